--
-- stress.sql: what stress.sh has done with each file.  Trouble is a WARNING
-- that begins with "stress trouble".
--
CREATE EXTENSION csv_gpu_fdw;
CREATE SCHEMA stress;
CREATE SERVER stress FOREIGN DATA WRAPPER csv_gpu_fdw;

-- what came of tables: their rows, or an error's code
CREATE TABLE stress.tally (outcome text, nrows bigint, nskipped bigint);

CREATE PROCEDURE stress.trouble(what text) LANGUAGE plpgsql AS $$
BEGIN
  RAISE WARNING 'stress trouble: %', what;
END $$;

-- The one value of a query, NULL of another statement, or 'ERROR ' and the code.
-- Hostile files are no reason for an internal error, nor to take for ever.
CREATE FUNCTION stress.try(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  IF query LIKE 'SELECT%' THEN
    EXECUTE query INTO result;
  ELSE
    EXECUTE query;
  END IF;
  RETURN result;
EXCEPTION WHEN OTHERS OR query_canceled OR assert_failure THEN
  IF sqlstate IN ('XX000', '57014', 'P0004', '53200') THEN
    CALL stress.trouble(format('%s: %s in: %s', sqlstate, sqlerrm, query));
  END IF;
  RETURN 'ERROR ' || sqlstate;
END $$;

-- A foreign table: all ways to read it agree.  Returns "rows|skipped".  (A
-- column may have any short name, and hide an alias of its name.)
CREATE FUNCTION stress.agree(relation regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  name text := relation::text;
  col text := (SELECT quote_ident(attname) FROM pg_attribute
               WHERE attrelid = relation AND attnum > 0 ORDER BY attnum LIMIT 1);
  selected text := stress.try(format('SELECT count(x) FROM (SELECT whole_row::text AS x FROM %s whole_row OFFSET 0) s', name));
  skipped text := stress.try(format('SELECT count(*) FROM csv_gpu_errors(%L)', name));
  counted text := stress.try(format('SELECT count(*) FROM %s', name));
  made text;
  loaded text;
  null_instead boolean := (SELECT 'on_error=set_null' = ANY (ftoptions) FROM pg_foreign_table WHERE ftrelid = relation);
  grouped text[];
  differ text;
BEGIN
  PERFORM stress.try(format('SELECT count(*) FROM csv_gpu_files(%L)', name));

  -- groups of a column, by the engine and by the executor
  FOREACH made IN ARRAY ARRAY['on', 'off'] LOOP
    PERFORM set_config('csv_gpu_fdw.enable_pushdown', made, false);
    grouped := grouped || stress.try(format(
      'SELECT count(*) || %L || sum(n) FROM (SELECT %s::text, count(*) AS n FROM %s GROUP BY 1) s', ' of ', col, name));
  END LOOP;
  RESET csv_gpu_fdw.enable_pushdown;
  IF grouped[1] IS DISTINCT FROM grouped[2] THEN
    CALL stress.trouble(format('%s: groups %s, not %s', name, grouped[1], grouped[2]));
  END IF;

  made := stress.try(format('CREATE TABLE stress.target (LIKE %s)', name));
  IF made LIKE 'ERROR%' THEN
    RETURN NULL;
  END IF;
  -- a table with an index is not loaded by whole pages
  IF current_setting('stress.index')::boolean THEN
    CREATE INDEX ON stress.target ((1));
  END IF;
  loaded := stress.try(format($q$SELECT records_loaded || '|' || records_skipped FROM csv_gpu_load(%L, 'stress.target')$q$, name));

  IF selected LIKE 'ERROR%' OR loaded LIKE 'ERROR%' THEN
    -- a row may be too big for a table
    IF loaded IS DISTINCT FROM selected AND loaded <> 'ERROR 54000' THEN
      CALL stress.trouble(format('%s: selected %s, loaded %s', name, selected, loaded));
    END IF;
  ELSE
    -- errors of values that are NULL instead skip no record
    IF (CASE WHEN null_instead THEN split_part(loaded, '|', 1) IS DISTINCT FROM selected
        ELSE loaded IS DISTINCT FROM selected || '|' || skipped END) THEN
      CALL stress.trouble(format('%s: selected %s, skipped %s, loaded %s', name, selected, skipped, loaded));
    END IF;
    -- a query without columns finds less to skip
    IF counted LIKE 'ERROR%' OR counted::bigint < selected::bigint THEN
      CALL stress.trouble(format('%s: selected %s, counted %s', name, selected, counted));
    END IF;
    differ := stress.try(format($q$SELECT string_agg(x, E'\n') FROM (
      (SELECT 'read: ' || whole_row::text AS x FROM %1$s whole_row EXCEPT ALL SELECT 'read: ' || whole_row::text FROM stress.target whole_row) UNION ALL
      (SELECT 'loaded: ' || whole_row::text FROM stress.target whole_row EXCEPT ALL SELECT 'loaded: ' || whole_row::text FROM %1$s whole_row)) s$q$, name));
    IF differ IS NOT NULL THEN
      CALL stress.trouble(format('%s: differ once loaded: %s', name, differ));
    END IF;
  END IF;
  DROP TABLE stress.target;
  IF selected LIKE 'ERROR%' THEN
    INSERT INTO stress.tally VALUES ('read: ' || selected);
  ELSE
    INSERT INTO stress.tally VALUES ('read and loaded', selected::bigint, skipped::bigint);
  END IF;
  RETURN selected || '|' || skipped;
END $$;

-- A file: sniffed, and read as it is declared.
CREATE PROCEDURE stress.file(path text, declared text) LANGUAGE plpgsql AS $$
DECLARE
  sniffed text := stress.try(format('SELECT count(s::text) FROM csv_gpu_sniff(%L) s', path));
  made text := stress.try(declared);
BEGIN
  INSERT INTO stress.tally VALUES ('sniffed: ' || CASE WHEN sniffed LIKE 'ERROR%' THEN sniffed ELSE 'some' END);
  IF made IS NULL THEN
    PERFORM stress.agree('stress.declared');
    DROP FOREIGN TABLE stress.declared;
  ELSE
    INSERT INTO stress.tally VALUES ('declared: ' || made);
  END IF;
END $$;

-- A directory: imported, and each table read.  A table that is as
-- csv_gpu_sniff() has it has its records, too.
CREATE PROCEDURE stress.folder(path text, options text) LANGUAGE plpgsql AS $$
DECLARE
  made text;
  table_ record;
  found text;
  sniffed text;
BEGIN
  CREATE SCHEMA stress_import;
  made := stress.try(format('IMPORT FOREIGN SCHEMA "x" FROM SERVER stress INTO stress_import OPTIONS (directory %L%s)',
    path, CASE WHEN options <> '' THEN ', ' || options ELSE '' END));
  IF made LIKE 'ERROR%' THEN
    INSERT INTO stress.tally VALUES ('imported: ' || made);
  END IF;
  FOR table_ IN
    SELECT ftrelid::regclass AS relation,
      substr(option, length('filename=') + 1) AS filename
    FROM pg_foreign_table, unnest(ftoptions) option
    WHERE option LIKE 'filename=%' AND ftrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'stress_import'::regnamespace)
    ORDER BY ftrelid
  LOOP
    found := stress.agree(table_.relation);
    CONTINUE WHEN options <> '' OR found IS NULL OR found LIKE '%ERROR%';
    sniffed := stress.try(format($q$SELECT DISTINCT (records - skipped) || '|' || skipped FROM csv_gpu_sniff(%L)$q$, table_.filename));
    IF sniffed IS DISTINCT FROM found THEN
      CALL stress.trouble(format('%s (%s): read %s, sniffed %s', table_.relation, table_.filename, found, sniffed));
    END IF;
  END LOOP;
  DROP SCHEMA stress_import CASCADE;
END $$;
