#!/usr/bin/env python3
"""Puts the results of the benchmarks into docs/benchmarks.md, and draws them.

    report.py

Each table of docs/benchmarks.md stands between two comments, the first of
which says what it is and of which machine, such as <!-- sql h200 -->; it is made
from docs/results/sql-h200.csv.  A plot docs/benchmarks-KIND-MACHINE.svg is drawn
for each such file but the machine's description, and docs/benchmarks-overview.svg, the
figure of README.md.  Run by "make bench-docs".
"""
import csv
import math
import re
import sys
from pathlib import Path

import plot

DOCS = Path(__file__).resolve().parents[2] / 'docs'
RESULTS = DOCS / 'results'

QUERIES = {
    'count': 'count(*)',
    'count_new': 'count(*), new session',
    'count_again': 'count(*), again',
    'count_column': 'count(one column)',
    'sums': 'sums by group',
    'all': 'all columns',
    'q1': 'TPC-H Q1',
    'q1_again': 'TPC-H Q1, again',
    'q1_resident': 'TPC-H Q1, resident columns',
    'q6': 'TPC-H Q6',
    'q6_again': 'TPC-H Q6, again',
    'q6_resident': 'TPC-H Q6, resident columns',
    'groups_4': '4 groups',
    'groups_10k': '10 thousand groups',
    'groups_10m': 'a group for most records',
    'first_rows': 'LIMIT 10',
    'load': 'into a table',
    'load_unlogged': 'load, unlogged',
    'load_insert': 'load, by inserts',
    'load_logged': 'load, logged',
    'load_key': 'load, with a key',
    'load_new_key': 'load, with a key, into a table emptied in the same transaction',
}
FIELDS = {'none': 'structure', 'all': 'all columns', '0': 'one column'}
SHAPES = {
    'quoted': 'every field quoted',
    'unquoted': 'no quotes',
    'tiny': '16 fields of one byte',
    'wide': '1,000 columns',
    'long': '5% of records 100 times longer',
    'giant': 'one field of 10 MB',
    'bad': '10% bad records',
    'stray': '5" pipe in 1% of records',
}
LOOPS_AND_TOOLS = {
    ('loop', 'switch'): 'byte loop (switch)',
    ('loop', 'table'): 'byte loop (table)',
    ('tool', 'cut'): '`cut`',
    ('tool', 'wc'): '`wc -l`',
}


def read(kind, machine):
    with open(RESULTS / f'{kind}-{machine}.csv', encoding='utf-8') as file:
        return list(csv.DictReader(file))


# ---- names and numbers ----

def number(text):
    return float(text) if text else None


def significant(value):
    if value >= 100:
        return f'{value:,.0f}'
    return f'{value:.1f}' if value >= 10 else f'{value:.2f}'


def duration(ms):
    return f'{significant(ms / 1000)} s' if ms >= 1000 else f'{significant(ms)} ms'


def round_duration(ms):
    return f'{ms / 1000:g} s' if ms >= 1000 else f'{ms:g} ms'


def speed(gigabytes):
    return f'{significant(gigabytes)} GB/s'


def size(nbytes):
    """A size as it was asked for: a file is a record longer than that."""
    for unit, name in ((2 ** 30, 'GB'), (2 ** 20, 'MB')):
        if nbytes >= unit * 0.999:
            return f'{nbytes / unit:.0f} {name}'
    return f'{nbytes / 1024:.0f} kB'


READERS = ['file_fdw', 'copy', 'duckdb', 'cpu', 'cuda', 'auto']


def kind_of(reader):
    return reader.split('/')[0]


def readers_of(rows):
    """The readers that took part, in a fixed order of kinds."""
    return sorted((reader for reader, in ordered(rows, 'reader')),
                  key=lambda reader: READERS.index(kind_of(reader)))


def reader_name(reader):
    name, _, threads = reader.partition('/')
    name = {'duckdb': 'DuckDB', 'cpu': 'CPU engine', 'cuda': 'CUDA engine', 'copy': 'COPY',
            'auto': 'engine auto'}.get(name, name)
    return f'{name}, {threads} thread{"s" * (threads != "1")}' if threads else name


def engine_name(engine, detail):
    if engine == 'cuda':
        return 'CUDA'
    return {'swar': 'SWAR', 'avx2': 'AVX2', 'avx512': 'AVX-512'}.get(detail) or \
        LOOPS_AND_TOOLS[engine, detail]


def ordered(rows, *keys):
    """The different values of these keys, in order of appearance."""
    return list(dict.fromkeys(tuple(row[key] for key in keys) for row in rows))


# ---- tables ----

def table(head, rows):
    lines = [head, ['---'] * len(head)] + rows
    return [f'| {" | ".join(line)} |' for line in lines]


def machine_table(machine):
    return table(['', ''], [[row['what'], row['value']] for row in read('machine', machine)
                            if row['what'] != 'machine'])


def spread(row):
    """By how much the run furthest off is off the median."""
    median, least, greatest = (number(row[key])
                               for key in ('median_ms', 'least_ms', 'greatest_ms'))
    if least is None or not median:
        return ''
    return f' ±{max(median - least, greatest - median) / median * 100:.0f}%'


def sql_tables(machine):
    """A table for each size of the file."""
    rows = read('sql', machine)
    return [line for nbytes, in ordered(rows, 'bytes')
            for line in sql_table([row for row in rows if row['bytes'] == nbytes]) + ['']][:-1]


def sql_table(rows):
    readers = readers_of(rows)
    lines = []
    for query, in ordered(rows, 'query'):
        cells = {row['reader']: row for row in rows if row['query'] == query}

        def ratios(reader):
            """How many times as fast as PostgreSQL's own and as DuckDB's best."""
            mine = float(cells[reader]['median_ms'])
            for peers in ('file_fdw', 'copy'), ('duckdb',):
                times = [float(row['median_ms']) for name, row in cells.items()
                         if kind_of(name) in peers]
                if times and kind_of(reader) in ('cpu', 'cuda', 'auto'):
                    yield f'×{significant(min(times) / mine)}'

        line = [QUERIES[query]]
        for reader in readers:
            row = cells.get(reader)
            cell = [duration(float(row['median_ms'])) + spread(row)] if row else []
            both = ', '.join(ratios(reader)) if row else ''
            line.append('<br>'.join(cell + ([both] if both else [])))
        lines.append(line)
    return [f'{size(int(rows[0]["bytes"]))}:', ''] + \
        table(['query'] + [reader_name(reader) for reader in readers], lines)


def engine_table(machine, wanted, base=None):
    """A line a shape, a column for each of wanted: (name, key of the value, test);
    with how many times as much as the column base, where there is one."""
    rows = read('engine', machine)
    columns = []
    for name, key, test in wanted:
        for engine, detail, fields in ordered(rows, 'engine', 'detail', 'fields'):
            row = {'engine': engine, 'detail': detail, 'fields': fields}
            found = {one['shape']: one.get(key) for one in rows
                     if (one['engine'], one['detail'], one['fields']) ==
                     (engine, detail, fields) and one.get(key)}
            if found and test(row):
                columns.append((name(row), found))
    bases = next((found for name, found in columns if name == base), {})

    def cell(shape, name, found):
        if shape not in found:
            return ''
        value = significant(float(found[shape]))
        if shape not in bases or name == base:
            return value
        return f'{value} ×{float(found[shape]) / float(bases[shape]):.1f}'

    lines = [[SHAPES.get(shape, shape)] + [cell(shape, *column) for column in columns]
             for shape, in ordered(rows, 'shape')]
    sizes = dict.fromkeys(f'{size(int(row["bytes"]))} on the {row["engine"].upper()} engine'
                          for row in rows if row['engine'] in ('cpu', 'cuda'))
    return [f'GB/s of input, {" and ".join(sizes)}:', ''] + \
        table(['shape'] + [name for name, _ in columns], lines)


def structure_table(machine):
    def name(row):
        return engine_name(row['engine'], row['detail'])

    def is_structure(row):
        return row['fields'] in ('none', '')
    return engine_table(machine, [
        (name, 'median_gbs', is_structure),
        (lambda row: f'{name(row)}, its kernel', 'structure_kernel_gbs', is_structure)],
        LOOPS_AND_TOOLS['loop', 'switch'])


def columns_table(machine):
    def name(row):
        return f'{engine_name(row["engine"], row["detail"])}, ' \
            f'{FIELDS.get(row["fields"], "fields " + row["fields"])}'
    return engine_table(machine, [
        (name, 'median_gbs', lambda row: row['fields'] not in ('none', '')),
        (lambda row: f'{name(row)}, kernels', 'kernels_gbs',
         lambda row: row['fields'] not in ('none', '')),
        (lambda row: f'{name(row)}, with copies', 'with_copies_gbs',
         lambda row: row['fields'] not in ('none', '')),
        (lambda row: 'device bytes a byte', 'device_bytes_a_byte',
         lambda row: row['fields'] == 'all')])


def scaling_table(machine):
    rows = read('scaling', machine)
    sizes = [nbytes for nbytes, in ordered(rows, 'bytes')]
    lines = []
    for query, reader in [(query, reader) for query, in ordered(rows, 'query')
                          for reader in readers_of(rows)]:
        cells = {row['bytes']: row for row in rows
                 if (row['query'], row['reader']) == (query, reader)}
        rates = [float(row['median_ms']) / float(nbytes) for nbytes, row in cells.items()]
        memory = [float(row['private_kb'] or row['peak_kb']) / 1024 for row in cells.values()]
        lines.append([QUERIES[query], reader_name(reader)] +
                     [duration(float(cells[nbytes]['median_ms'])) if nbytes in cells else ''
                      for nbytes in sizes] +
                     [f'{(max(rates) / min(rates) - 1) * 100:.0f}%',
                      ' to '.join(dict.fromkeys(map(significant, (min(memory), max(memory))))) +
                      ' MB'])
    return table(['query', 'reader'] + [size(int(nbytes)) for nbytes in sizes] +
                 ['off linear', 'memory'], lines)


SYSTEMS = {'ours': 'csv_gpu_fdw', 'duckdb': 'DuckDB', 'tables': 'plain tables'}


def tpch_table(machine):
    """The queries, then what they come to; a run that was ended counts as it is."""
    rows = read('tpch', machine)
    systems = [system for system, in ordered(rows, 'system')]
    times = {}
    ended = set()
    for row in rows:
        times.setdefault(row['query'], {})[row['system']] = float(row['median_ms'])
        if row['runs'] == '0':
            ended.add((row['query'], row['system']))

    def line(name, values, over=()):
        cells = [('> ' if system in over else '') + duration(values[system]) +
                 (f'<br>×{significant(values[system] / values[systems[0]])}'
                  if system != systems[0] else '') for system in systems]
        return [name] + cells

    lines = [line(query.replace('q0', 'q').upper(), values,
                  [system for system in systems if (query, system) in ended])
             for query, values in times.items()]
    mean = {system: math.exp(sum(math.log(values[system]) for values in times.values()) /
                             len(times)) for system in systems}
    total = {system: sum(values[system] for query, values in times.items()
                         if query not in ('q02', 'q17', 'q20')) for system in systems}
    lines += [line('geometric mean', mean), line('sum without Q2, Q17, Q20', total)]
    return [f'Scale {rows[0]["scale"]}, {rows[0]["threads"]} threads:', ''] + \
        table(['query'] + [SYSTEMS.get(system, system) for system in systems], lines)


TABLES = {'machine': machine_table, 'sql': sql_tables, 'structure': structure_table,
          'columns': columns_table, 'scaling': scaling_table, 'tpch': tpch_table}


def fill(text):
    """The document with its tables made anew."""
    def one(match):
        kind, machine = match.group(1).split()
        return '\n'.join([f'<!-- {kind} {machine} -->', *TABLES[kind](machine), '<!-- end -->'])

    return re.sub(r'<!-- (\w+ [\w-]+) -->\n(?:.*\n)*?<!-- end -->', one, text)


# ---- plots ----

def reader_colours(readers):
    """A hue for each kind of reader, darker with more threads."""
    shades = {'file_fdw': ['#8c959f'], 'copy': ['#b7bec6'], 'duckdb': ['#f2b66d', '#d9822b'],
              'cpu': ['#7db3e8', '#1f6fbf'], 'cuda': ['#2c8f4e'], 'auto': ['#8cc9a1']}
    return {reader_name(reader): shades[kind_of(reader)][0 if reader.endswith('/1') else -1]
            for reader in readers}


def plot_sql(machine, path):
    rows = read('sql', machine)
    rows = [row for row in rows if row['bytes'] == rows[0]['bytes']]
    readers = readers_of(rows)
    groups = [(QUERIES[query], [(reader_name(row['reader']), float(row['median_ms']))
                                for reader in readers for row in rows
                                if (row['query'], row['reader']) == (query, reader)])
              for query, in ordered(rows, 'query')]
    plot.bars(path, f'Queries over a CSV file of {size(int(rows[0]["bytes"]))}: {machine}',
              'Median time of a query, log scale; less is better. The file is in the page cache.',
              groups, reader_colours(readers), duration, round_duration)


# what is drawn of the engines; the tables have the rest
ENGINE_COLOURS = {
    'byte loop (switch), structure': '#8c959f',
    'SWAR, structure': '#f2b66d',
    'AVX2, structure': '#7db3e8', 'AVX2, all columns': '#1f6fbf',
    'CUDA, structure': '#8cc9a1', 'CUDA, all columns': '#2c8f4e',
    'CUDA, all columns, with copies': '#145c2e',
}


def plot_engine(machine, path):
    rows = read('engine', machine)
    groups = []
    for shape, in ordered(rows, 'shape'):
        values = {}
        for row in rows:
            if row['shape'] != shape:
                continue
            name = f'{engine_name(row["engine"], row["detail"])}, ' \
                f'{FIELDS.get(row["fields"], "")}'
            values[name] = number(row['median_gbs'])
            values[f'{name}, with copies'] = number(row['with_copies_gbs'])
        groups.append((SHAPES.get(shape, shape), [(name, values[name]) for name in ENGINE_COLOURS
                               if values.get(name)]))
    plot.bars(path, f'The engines by themselves: {machine}',
              'GB/s of input, one thread of the CPU or one GPU, log scale; more is better.',
              groups, ENGINE_COLOURS, significant, lambda value: f'{value:g} GB/s')


def plot_scaling(machine, path):
    rows = read('scaling', machine)
    panels = []
    for query in ('count', 'all'):
        panels.append((QUERIES[query], [
            (reader_name(reader), [(float(row['bytes']),
                                    float(row['median_ms']) / float(row['bytes']) * 1e9)
                                   for row in rows
                                   if (row['query'], row['reader']) == (query, reader)])
            for reader in readers_of(rows)]))
    plot.lines(path, f'Time a GB against the size of the file: {machine}',
               'Median time over size, log scales; a level line is linear time, lower is better.',
               panels, reader_colours(readers_of(rows)), size, duration, round_duration)


# README.md's figure
OVERVIEW = {'count': 'count(*)', 'q1': 'TPC-H Q1', 'load_logged': 'load',
            'load_key': 'load with a key'}


def plot_overview(machine, path):
    rows = read('sql', machine)
    rows = [row for row in rows if row['bytes'] == rows[0]['bytes'] and row['query'] in OVERVIEW
            and not row['reader'].endswith('/1') and row['reader'] != 'auto']
    readers = readers_of(rows)
    names = {reader: reader_name(reader).replace('CPU', 'csv_gpu_fdw, CPU')
             .replace('CUDA', 'csv_gpu_fdw, CUDA') for reader in readers}
    colours = reader_colours(readers)
    groups = [(name, [(names[row['reader']], float(row['median_ms']))
                      for reader in readers for row in rows
                      if (row['query'], row['reader']) == (query, reader)])
              for query, name in OVERVIEW.items()]
    host = {row['what']: row['value'] for row in read('machine', machine)}
    plot.bars(path, f'A CSV file of {size(int(rows[0]["bytes"]))}, {host["cores"]} cores, '
              f'{host["GPU"].split(",")[0]}',
              'Median time, linear scale; less is better. No bars: COPY answers no queries. '
              'DuckDB loads a table of its own.',
              groups, {names[reader]: colours[reader_name(reader)] for reader in readers},
              duration, lambda ms: f'{ms / 1000:g} s', linear=True)


PLOTS = {'sql': plot_sql, 'engine': plot_engine, 'scaling': plot_scaling}


def main():
    document = DOCS / 'benchmarks.md'
    document.write_text(fill(document.read_text(encoding='utf-8')), encoding='utf-8')
    for kind, draw in PLOTS.items():
        for results in sorted(RESULTS.glob(f'{kind}-*.csv')):
            draw(results.stem.split('-', 1)[1], DOCS / f'benchmarks-{results.stem}.svg')
    plot_overview('h200', DOCS / 'benchmarks-overview.svg')


if __name__ == '__main__':
    sys.exit(main())
