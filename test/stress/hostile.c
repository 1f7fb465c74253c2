/*
 * hostile.c
 *		Writes a folder of hostile files, and prints the SQL that reads them.
 *
 *	hostile FOLDER SEED FILES [parallel]
 *
 * "parallel": the SQL reads each file by one process and by several, half of them
 * from kept columns as well, with what psql prints marked for whoever compares it.
 *
 * All depends on SEED alone.  The contents are those of the differential tests,
 * and columns of one type; on top come headers whose names are odd, names of
 * files that are, and compression, with damage.  FOLDER/all has the files that
 * one IMPORT takes at once; a compressed one has a folder of its own, since
 * damage is an ERROR.
 */
#include "differential/content.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- headers ---- */

/* a name: of columns, and of files less what the file system refuses */
static void
append_name(Content *name, Choices *choices)
{
	static const char *names[] = {
		"id", "Name", "SELECT", "user", "ctid", "xmin", "tableoid", "column_1",
		"filename", "%s%n%d", "a b", "it's", "a\\b", "{x}", "--", "1st", "_", "",
		" ", "\t", "NULL", "null", "?", "[a]", "*", "$(x)", ";", "tab\tle",
		"\xC3\x84rger", "\xC4\xB0stanbul", "\xEF\xAC\x81le", "e\xCC\x81",
		"\xE5\x90\x8D\xE5\x89\x8D", "\xF0\x9F\x98\x80", "\xE2\x80\xAE" "x",
		"\xEF\xBB\xBFid", "\x01", "\x7F", "\xC2\xA0", "\xEF\xBF\xBF",
		"\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xFF\xFE", "\xED\xA0\x80", "x\x80",
		"2024-01-01", "3.14", "true", "1e5"
	};
	uint32_t	n;

	switch (choose(choices, 10))
	{
		case 0:
			/* as long as an identifier may be, or nearly, with any last one */
			for (n = 56 + choose(choices, 10); n > 0; n--)
				content_byte(name, 'n');
			content_string(name, PICK(choices, names));
			break;
		case 1:
			for (n = choose(choices, 90); n > 0; n--)
				content_string(name, "\xC3\xA9");
			break;
		case 2:
			for (n = choose(choices, 9); n > 0; n--)
				content_byte(name, (uint8_t) choices_next(choices));
			break;
		case 3:
			content_string(name, PICK(choices, names));
			content_string(name, PICK(choices, names));
			break;
		default:
			content_string(name, PICK(choices, names));
			break;
	}
}

static void
append_header(Content *file, const Case *test_case, uint32_t nfields,
			  Choices *choices)
{
	uint8_t		delimiter = test_case->dialect.delimiter;
	bool		giant = chance(choices, 60);

	for (uint32_t field = 0; field < nfields; field++)
	{
		Content		name = {NULL, 0, 0};
		bool		quoted = chance(choices, 3);

		append_name(&name, choices);
		if (chance(choices, 12))
		{
			content_byte(&name, 0);
			append_name(&name, choices);
		}
		if (giant && chance(choices, nfields < 4 ? nfields : 4))
			for (uint32_t n = choose(choices, 40000); n > 0; n--)
				content_string(&name, "giant");
		if (field > 0)
			content_byte(file, delimiter);
		if (quoted)
			content_byte(file, '"');
		for (size_t i = 0; i < name.nbytes; i++)
			if (quoted || name.bytes[i] != delimiter || chance(choices, 20))
				content_byte(file, name.bytes[i]);
		if (quoted && !chance(choices, 30))
			content_byte(file, '"');
		free(name.bytes);
	}
	content_string(file, chance(choices, 4) ? "\r\n" : "\n");
}

/* ---- contents ---- */

/* values that a column of one type is inferred from, with a rare other one */
static void
append_typed(Content *file, const Case *test_case, uint32_t nfields,
			 Choices *choices)
{
	static const char *lasting[][4] = {
		{"true", "false", "t", "no"},
		{"1", "-2147483648", "2147483647", "2147483648"},
		{"0.5", "-12.25", "99999999999999999999.9", "0"},
		{"1e3", "2.5e-7", "NaN", "1e308"},
		{"2024-02-29", "1999-12-31", "0001-01-01", "9999-12-31"},
		{"2024-02-29 12:34:56", "2000-01-01T00:00:00.123456",
		"1999-12-31 24:00:00", "2024-01-01 00:00"},
		{"2024-02-29 12:34:56Z", "2000-01-01 00:00:00+05:30",
		"1999-12-31 23:59:59-08", "2024-01-01 00:00:00+00"},
		{"123e4567-e89b-12d3-a456-426614174000",
			"123E4567-E89B-12D3-A456-426614174001",
		"00000000-0000-0000-0000-000000000000", ""},
		{"1,5", "2,25", "-3,125", "1000"},
		{"abc", "d\xC3\xA9" "f", "", "  x "}
	};
	static const char *odd[] = {
		"", "x", "NaN", "\xFF", "NULL", "9e-16384", "1e131071", "infinity",
		"0x10", " 1", "1 ", "--1", "4713-01-01 BC", "294277-01-01", "\\N", "\"",
		"now", "2023-02-30", "1_000", "+"
	};
	char		delimiter = (char) test_case->dialect.delimiter;
	uint32_t	nrecords = choose(choices, chance(choices, 10) ? 600 : 30);
	uint8_t		types[64];

	for (uint32_t field = 0; field < nfields; field++)
		types[field] = (uint8_t) choose(choices,
										sizeof(lasting) / sizeof(lasting[0]));
	for (uint32_t r = 0; r < nrecords; r++)
	{
		for (uint32_t field = 0; field < nfields; field++)
		{
			const char *value = chance(choices, 400) ? PICK(choices, odd) :
				lasting[types[field]][choose(choices, 4)];
			bool		quoted = strchr(value, delimiter) != NULL ||
				chance(choices, 10);

			if (field > 0)
				content_byte(file, (uint8_t) delimiter);
			if (quoted)
				content_byte(file, '"');
			content_string(file, value);
			if (quoted)
				content_byte(file, '"');
		}
		content_string(file, chance(choices, 200) ? "\r\n" : "\n");
	}
}

static void
make_file(Content *file, Content *content, Case *test_case, Choices *choices)
{
	uint32_t	nfields = test_case->layout.nfields;

	file->nbytes = 0;
	if (chance(choices, 30))
		content_string(file, "\xEF\xBB\xBF");
	if (chance(choices, 3))
	{
		if (nfields > 64)
			nfields = 64;
		if (!chance(choices, 4))
			append_header(file, test_case, nfields, choices);
		append_typed(file, test_case, nfields, choices);
	}
	else
	{
		content_make(content, test_case, choices);
		if (chance(choices, 2))
			append_header(file, test_case,
						  chance(choices, 100) ? choose(choices, 2000) + 1 :
						  nfields, choices);
		content_put(file, content->bytes, content->nbytes);
	}
}

/* ---- files ---- */

static const struct
{
	const char *suffix;
	const char *command;
}			compressions[] = {
	{".gz", "gzip -cn"}, {".zst", "zstd -cq"}, {".lz4", "lz4 -cq"}
};

static void
die(const char *what, const char *path)
{
	fprintf(stderr, "hostile: %s \"%s\": %s\n", what, path, strerror(errno));
	exit(1);
}

static void
write_file(const char *path, const Content *file)
{
	FILE	   *out = fopen(path, "wb");

	if (out == NULL ||
		fwrite(file->bytes, 1, file->nbytes, out) != file->nbytes ||
		fclose(out) != 0)
		die("cannot write", path);
}

/* what is left of it: cut off, changed, gone on with; or all of it */
static void
damage(Content *file, Choices *choices)
{
	uint32_t	n;

	if (file->nbytes == 0)
		return;
	switch (choose(choices, 6))
	{
		case 0:
			file->nbytes = choices_next(choices) % file->nbytes;
			break;
		case 1:
			for (n = choose(choices, 4) + 1; n > 0; n--)
				file->bytes[choices_next(choices) % file->nbytes] =
					(uint8_t) choices_next(choices);
			break;
		case 2:
			content_put(file, "more of it", choose(choices, 10));
			break;
		default:
			break;
	}
}

static void
write_compressed(const char *path, int compression, Content *file,
				 Choices *choices)
{
	char		command[4200];
	FILE	   *pipe;
	uint8_t		buffer[8192];
	size_t		nbytes;

	/* now and then it is what it was */
	if (!chance(choices, 12))
	{
		write_file(path, file);
		snprintf(command, sizeof(command), "%s < '%s'",
				 compressions[compression].command, path);
		pipe = popen(command, "r");
		if (pipe == NULL)
			die("cannot compress", path);
		file->nbytes = 0;
		while ((nbytes = fread(buffer, 1, sizeof(buffer), pipe)) > 0)
			content_put(file, buffer, nbytes);
		if (pclose(pipe) != 0)
			die("cannot compress", path);
		if (chance(choices, 10))
		{
			Content		again = {NULL, 0, 0};

			content_put(&again, file->bytes, file->nbytes);
			content_put(file, again.bytes, again.nbytes);
			free(again.bytes);
		}
		damage(file, choices);
	}
	write_file(path, file);
}

/* ---- SQL ---- */

/* as an E'' string; a byte that no text of the database holds is no matter */
static void
print_literal(const uint8_t *bytes, size_t nbytes)
{
	printf("E'");
	for (size_t i = 0; i < nbytes; i++)
	{
		uint8_t		byte = bytes[i];

		if (byte >= '0' && byte <= 'z' && byte != '\\')
			putchar(byte);
		else
			printf("\\%03o", byte);
	}
	putchar('\'');
}

static void
print_string(const char *string)
{
	print_literal((const uint8_t *) string, strlen(string));
}

static void
print_option(const char *name, const uint8_t *bytes, size_t nbytes)
{
	printf(", %s ", name);
	print_literal(bytes, nbytes);
}

/*
 * How bad records are reported, and how large pieces are, at least `least` bytes;
 * behind an option.
 */
static void
print_report_options(const Case *test_case, size_t least, Choices *choices)
{
	bool		stops = chance(choices, 8);

	if (stops || chance(choices, 3))
		printf(", on_error '%s'", stops ? "stop" : "set_null");
	if (!stops && chance(choices, 3))
		printf(", reject_limit '%u%s'", choose(choices, 30),
			   chance(choices, 3) ? "%" : "");
	if (chance(choices, 3))
		printf(", notice_limit '%u'", choose(choices, 30));
	if (chance(choices, 6))
		printf(", log_verbosity 'silent'");
	if (test_case->chunk_bytes != 0)
		printf(", chunk_size '%zuB'", test_case->chunk_bytes > least ?
			   (size_t) test_case->chunk_bytes : least);
}

/*
 * A foreign table as the case has it; the server says which cannot be.  With a
 * least size of pieces, not 0, it is one to be read in parallel, too.
 */
static void
print_declared(const char *path, const Case *test_case, size_t least,
			   Choices *choices)
{
	static const char *types[] = {
		"text", "text", "text", "varchar(5)", "char(3)", "integer", "bigint",
		"numeric", "numeric(8,2)", "float8", "boolean", "date", "timestamp",
		"timestamptz", "uuid", "bytea", "json", "text[]", "inet"
	};
	static const char *encodings[] = {
		"UTF8", "LATIN1", "WIN1252", "SJIS", "EUC_JP", "GBK", "GB18030",
		"SQL_ASCII", "KOI8R"
	};
	static const char *boundaries[] = {"auto", "lf", "crlf", "cr"};
	const CsvDialectOptions *dialect = &test_case->dialect;
	uint32_t	nfields = test_case->layout.nfields;
	char		number[32];

	printf("CREATE FOREIGN TABLE stress.declared (");
	for (uint32_t field = 0; field < nfields; field++)
	{
		printf("%sc%u %s", field > 0 ? ", " : "", field,
			   chance(choices, 3) ? PICK(choices, types) : "text");
		if (field < test_case->layout.ncolumns &&
			test_case->columns[field].max_chars >= 0)
			printf(" OPTIONS (max_chars '%d')",
				   (int) test_case->columns[field].max_chars);
	}
	if (chance(choices, 4))
		printf(", v1 text OPTIONS (virtual 'filename')"
			   ", v2 bigint OPTIONS (virtual 'record')"
			   ", v3 bigint OPTIONS (virtual 'line')"
			   ", v4 bigint OPTIONS (virtual 'byte_offset')");
	if (test_case->layout.pad && chance(choices, 2))
		printf(", v5 text[] OPTIONS (virtual 'surplus')");
	printf(") SERVER stress OPTIONS (filename ");
	print_string(path);
	print_option("delimiter", &dialect->delimiter, 1);
	print_option("quote", &dialect->quote, dialect->quote != 0);
	if (dialect->escape != 0)
		print_option("escape", &dialect->escape, 1);
	if (test_case->layout.null_length > 0)
		print_option("null", test_case->null_bytes,
					 test_case->layout.null_length);
	snprintf(number, sizeof(number), "%u", test_case->header_rows);
	print_option("header_rows", (uint8_t *) number, strlen(number));
	snprintf(number, sizeof(number), "%u", test_case->dialect.footer_rows);
	print_option("footer_rows", (uint8_t *) number, strlen(number));
	if (test_case->max_record_bytes < 4096)
	{
		snprintf(number, sizeof(number), "%uB",
				 (unsigned) test_case->max_record_bytes);
		print_option("max_record_size", (uint8_t *) number, strlen(number));
	}
	printf(", record_boundary '%s', multiline '%s', quoting '%s', "
		   "ragged '%s', encoding '%s'",
		   boundaries[dialect->boundary & 3],
		   dialect->multiline ? "true" : "false",
		   dialect->lenient ? "lenient" : dialect->quoting == 0 ? "rfc4180" : "postgres",
		   test_case->layout.pad ? "pad" : "skip",
		   chance(choices, 2) ? "UTF8" : PICK(choices, encodings));
	if (test_case->layout.decimal_separator == ',')
		printf(", decimal_separator ','");
	if (least > 0)
		print_report_options(test_case, least, choices);
	printf(")");
}

/* the beginning of a file's name, which has its number, too */
static void
choose_file_name(char *name, size_t size, uint32_t number, Choices *choices)
{
	Content		odd = {NULL, 0, 0};
	const char *suffix = chance(choices, 6) ? ".tsv" : ".csv";

	if (chance(choices, 3))
		append_name(&odd, choices);
	if (chance(choices, 60))
		for (int n = 0; n < 50; n++)
			content_string(&odd, "long");
	if (odd.nbytes > 230)
		odd.nbytes = 230;
	content_byte(&odd, 0);
	for (size_t i = 0; i < odd.nbytes; i++)
		if (odd.bytes[i] == '/')
			odd.bytes[i] = '_';
	/* a hidden file is none of theirs */
	snprintf(name, size, "f%s%u%s", (char *) odd.bytes, number, suffix);
	if (!chance(choices, 4))
		snprintf(name, size, "f%u%s", number, suffix);
	free(odd.bytes);
}

/* read a table alone, shared by 1 to 8 workers, and so once its columns are kept */
static void
print_comparison(const char *name, Choices *choices)
{
	static const char *queries[] = {
		"SELECT count(*), md5(string_agg(x, '|' ORDER BY x COLLATE \"C\")) FROM (SELECT d::text AS x FROM stress.declared d OFFSET 0) s",
		"SELECT x FROM (SELECT d::text AS x FROM stress.declared d OFFSET 0) s ORDER BY x COLLATE \"C\"",
		"SELECT count(*), max(d::text COLLATE \"C\") FROM stress.declared d WHERE c0::text COLLATE \"C\" > 'a'",
		"SELECT count(*), min(md5(c0::text)) FROM stress.declared WHERE c0 IS NOT NULL",
		"SELECT c0::text, count(*) FROM stress.declared GROUP BY 1 HAVING count(md5(c0::text)) > 0 ORDER BY 1, 2"
	};
	const char *query = PICK(choices, queries);

	/* in one transaction, where "now" means one time */
	printf("\\set ON_ERROR_ROLLBACK on\nBEGIN;\n"
		   "\\echo == %s serial\n\\warn == %s serial\n"
		   "SET max_parallel_workers_per_gather = 0;\n%s;\n", name, name, query);
	printf("\\echo == %s plan\n\\warn == %s plan\n"
		   "SET max_parallel_workers_per_gather = %u;\n"
		   "SET csv_gpu_test.parallel_workers = 8;\n"
		   "SET parallel_leader_participation = %s;\n"
		   "EXPLAIN (COSTS OFF) %s;\n", name, name, choose(choices, 8) + 1,
		   chance(choices, 3) ? "on" : "off", query);
	printf("\\echo == %s parallel\n\\warn == %s parallel\n%s;\n", name, name, query);
	if (!chance(choices, 2))
		printf("\\echo == %s keeping\n\\warn == %s keeping\n"
			   "SET csv_gpu_fdw.resident = on;\n%s;\n"
			   "\\echo == %s keptplan\n\\warn == %s keptplan\nEXPLAIN (COSTS OFF) %s;\n"
			   "\\echo == %s kept\n\\warn == %s kept\n"
			   "SET csv_gpu_test.lost_sets = %u;\n%s;\n"
			   "SET csv_gpu_test.lost_sets = 0;\nSET csv_gpu_fdw.resident = off;\n",
			   name, name, query, name, name, query, name, name,
			   chance(choices, 3) ? choose(choices, 3) + 2 : 0, query);
	printf("\\echo ==\n\\warn ==\nCOMMIT;\n");
}

static void
print_folder(const char *folder, const char *options)
{
	printf("\\warn stress: folder %s\nCALL stress.folder(", folder);
	print_string(folder);
	printf(", ");
	print_string(options);
	printf(");\n");
}

int
main(int argc, char **argv)
{
	static const char *import_options[] = {
		"", "", "", "", "all_text 'true'", "sample_records '3'", "limits 'false'",
		"encoding 'LATIN1'", "encoding 'SJIS'", "max_record_size '100'",
		"header 'true'", "header_rows '2'", "quote ''", "delimiter ';'",
		"ragged 'pad'", "multiline 'false'", "on_error 'stop'", "on_error 'set_null'", "encoding 'UTF8'"
	};
	const char *folder = argc > 1 ? argv[1] : "";
	uint64_t	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	uint32_t	nfiles = argc > 3 ? (uint32_t) atoi(argv[3]) : 0;
	Choices		choices = {seed, NULL, 0};
	Case	   *test_case = malloc(sizeof(Case));
	Content		content = {NULL, 0, 0};
	Content		file = {NULL, 0, 0};
	char		path[4096];
	bool		parallel = argc == 5 && strcmp(argv[4], "parallel") == 0;

	if ((argc != 4 && !parallel) || test_case == NULL)
	{
		fprintf(stderr, "usage: hostile FOLDER SEED FILES [parallel]\n");
		return 2;
	}
	/* neighbouring seeds are far from each other */
	choices.state = choices_next(&choices);
	snprintf(path, sizeof(path), "%s/all", folder);
	if (mkdir(folder, 0755) != 0 || mkdir(path, 0755) != 0)
		die("cannot make", path);

	printf("SET csv_gpu_fdw.cpu_threads = %u;\n", choose(&choices, 3) + 1);
	for (uint32_t i = 0; i < nfiles; i++)
	{
		char		name[512];

		case_make(test_case, &choices);
		make_file(&file, &content, test_case, &choices);
		choose_file_name(name, sizeof(name), i, &choices);
		if (chance(&choices, 8))
		{
			int			compression = (int) choose(&choices, 3);

			snprintf(path, sizeof(path), "%s/%u", folder, i);
			if (mkdir(path, 0755) != 0)
				die("cannot make", path);
			snprintf(name, sizeof(name), "f%u.csv%s", i,
					 compressions[compression].suffix);
			snprintf(path, sizeof(path), "%s/%u/%s", folder, i, name);
			write_compressed(path, compression, &file, &choices);
			printf("\\warn stress: file %u/%s\n", i, name);
		}
		else
		{
			snprintf(path, sizeof(path), "%s/all/%s", folder, name);
			write_file(path, &file);
			printf("\\warn stress: file %u\n", i);
		}
		if (parallel)
		{
			/* some thousand pieces, or a bad guess in each takes minutes */
			size_t		least = file.nbytes / 1000 + 1;

			/* now and then, of all files, some of which are large */
			if (strncmp(path + strlen(folder), "/all/", 5) == 0 &&
				chance(&choices, 6))
			{
				snprintf(path, sizeof(path), "%s/all/*", folder);
				least = 100;
			}
			printf("DROP FOREIGN TABLE IF EXISTS stress.declared;\n");
			print_declared(path, test_case, least, &choices);
			printf(";\n");
			snprintf(name, sizeof(name), "%u", i);
			print_comparison(name, &choices);
			continue;
		}
		printf("SET stress.index = %s;\n", chance(&choices, 3) ? "on" : "off");
		printf("CALL stress.file(");
		print_string(path);
		printf(", $sql$");
		print_declared(path, test_case, 0, &choices);
		printf("$sql$);\n");
		if (strncmp(path + strlen(folder), "/all/", 5) != 0)
		{
			snprintf(path, sizeof(path), "%s/%u", folder, i);
			print_folder(path, PICK(&choices, import_options));
		}
	}
	if (!parallel)
	{
		snprintf(path, sizeof(path), "%s/all", folder);
		print_folder(path, "");
		print_folder(path, PICK(&choices, import_options));
	}

	content_free(&content);
	free(file.bytes);
	free(test_case);
	return 0;
}
