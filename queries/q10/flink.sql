-- q10, log to file system: every bid, written to files partitioned by day and minute (UTC). A partition is marked with a
-- file _SUCCESS when the watermark has passed its minute by one more.
--
-- The path must be one that all task managers share; it is set with ALTER TABLE log SET ('path' = '...'). The answer is what
-- the files hold: see answer/flink.sql.

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
  'format' = 'csv',
  'partition.time-extractor.timestamp-pattern' = '$dt $hm:00',
  'sink.partition-commit.trigger' = 'partition-time',
  'sink.partition-commit.delay' = '1 min',
  'sink.partition-commit.policy.kind' = 'success-file',
  'sink.partition-commit.watermark-time-zone' = 'UTC',
  'sink.rolling-policy.rollover-interval' = '1 min',
  'sink.rolling-policy.check-interval' = '1 min'
);

INSERT INTO log
SELECT auction, bidder, price, `dateTime`, extra, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd'), DATE_FORMAT(`dateTime`, 'HH:mm')
FROM bid;
