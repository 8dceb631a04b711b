-- q22, URL directories: every bid with the first three directories of its URL; null where there is no such part.

CREATE TABLE answer (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  dir1 STRING,
  dir2 STRING,
  dir3 STRING
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT
  auction,
  bidder,
  price,
  channel,
  SPLIT_INDEX(url, '/', 3),
  SPLIT_INDEX(url, '/', 4),
  SPLIT_INDEX(url, '/', 5)
FROM bid;
