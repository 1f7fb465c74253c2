-- A CSV file becomes a table.  (A relative path starts at the data directory.)
CREATE EXTENSION csv_gpu_fdw;
CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw;
CREATE FOREIGN TABLE customers (
    id    integer,
    name  text,
    city  text OPTIONS (max_chars '26'),
    since date,
    spent numeric(10,2)
) SERVER csv OPTIONS (filename 'demo/customers.csv', header 'true');

-- Two records of the file are bad.  They are left out, and named.
SELECT * FROM customers ORDER BY id;

-- A function returns them as a table: their places, their errors and their bytes.
\x on
SELECT * FROM csv_gpu_errors('customers');
\x off

-- It is a table like any other.  (A query checks the columns it uses: the
-- record with too long a city counts here.)
SELECT extract(year FROM since) AS year, count(*), sum(spent)
FROM customers GROUP BY 1 ORDER BY 1;

-- csv_gpu_load() loads the file into a table, as COPY would, and keeps its bad records.
CREATE TABLE people (id integer, name text, city text, since date, spent numeric(10,2));
CREATE TABLE rejected AS
SELECT *, now() AS loaded_at, 'customers'::regclass AS source FROM csv_gpu_errors('customers') LIMIT 0;
SELECT records_loaded, records_skipped, bytes_read
FROM csv_gpu_load('customers', 'people', rejects => 'rejected');
SELECT record, error, message FROM rejected;

-- EXPLAIN shows which engine reads the file, and how much it has read.
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
SELECT name, spent FROM customers WHERE spent > 1000;

-- All files of a folder become tables at once, with types that every value has.
CREATE SCHEMA files;
IMPORT FOREIGN SCHEMA "demo" FROM SERVER csv INTO files;
SELECT column_name, type, nulls, max_chars FROM csv_gpu_sniff('demo/customers.csv');

-- COPY itself can read through the engine.  ('force': it is an ERROR if it does not.)
COPY (SELECT i, 'number ' || i FROM generate_series(1, 100000) i) TO PROGRAM 'cat > demo/numbers.csv' (FORMAT csv);
CREATE TABLE numbers (i integer PRIMARY KEY, name text);
SET csv_gpu_fdw.copy = force;
COPY numbers FROM 'demo/numbers.csv' (FORMAT csv);
RESET csv_gpu_fdw.copy;
SELECT count(*), max(name) FROM numbers;

-- A function lists the GPUs of this machine.  Without a GPU, there are no rows.
SELECT device, name, compute_capability, usable, reason FROM csv_gpu_devices();
