-- Waits until it is.
SELECT current_setting('csv_gpu_fdw.resident_memory') = :'memory' AND memory_limit =
    CASE :'memory' WHEN 'off' THEN 0 ELSE pg_size_bytes(:'memory') END AS memory_is_set,
    pg_sleep(0.01)
  FROM csv_gpu_stat WHERE device IS NULL \gset
\if :memory_is_set
\else
\i :wait_for_memory
\endif
