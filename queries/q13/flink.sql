-- q13, bounded side input join: every bid with the value that a side table of 10 000 keys, in memory, has for its auction
-- as of processing time.

CREATE TABLE side_input (
  key BIGINT,
  `value` STRING
) WITH (
  'connector' = 'nexmark-side'
);

CREATE TABLE answer (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  `dateTime` TIMESTAMP(3),
  `value` STRING
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT B.auction, B.bidder, B.price, B.`dateTime`, S.`value`
FROM (SELECT auction, bidder, price, `dateTime`, PROCTIME() AS clock FROM bid) AS B
JOIN side_input FOR SYSTEM_TIME AS OF B.clock AS S ON MOD(B.auction, 10000) = S.key;
