// duckdb.cjs DIRECTORY <names >tables: what DuckDB's read_csv() makes of files, by itself; a
// line of JSON for each file: name, columns (name, type), rows (texts), or error.
// NODE_PATH names the directory of the package @duckdb/node-api.
'use strict';
const { DuckDBInstance } = require('@duckdb/node-api');
const { readFileSync } = require('fs');

async function main(directory)
{
	const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
	const connection = await instance.connect();

	await connection.run("SET TimeZone = 'UTC'");
	for (const name of readFileSync(0, 'utf8').split('\n').filter(Boolean))
	{
		const table = { file: name };
		const source = `read_csv('${directory}/${name}')`;

		try
		{
			const columns = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${source}`);
			const rows = await connection.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM ${source}`);

			table.columns = columns.getRows().map(c => ({ name: c[0], type: c[1] }));
			table.rows = rows.getRows();
		}
		catch (e)
		{
			table.error = String(e.message).split('\n')[0];
		}
		process.stdout.write(JSON.stringify(table) + '\n');
	}
}

main(process.argv[2]);
