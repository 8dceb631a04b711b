-- The answer of q10: reads back the files that the job of ../flink.sql has written. It runs after that job has ended, with
-- the same path, set with ALTER TABLE log SET ('path' = '...').

CREATE TABLE log (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  `dateTime` TIMESTAMP(3),
  extra STRING,
  dt STRING,
  hm STRING
) PARTITIONED BY (dt, hm) WITH (
  'connector' = 'filesystem',
  'format' = 'csv'
);

CREATE TABLE answer (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  `dateTime` TIMESTAMP(3),
  extra STRING,
  dt STRING,
  hm STRING
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT auction, bidder, price, `dateTime`, extra, dt, hm
FROM log;
