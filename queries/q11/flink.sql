-- q11, user sessions: for each bidder the sessions of bids at most 10 s apart, with their number.

CREATE TABLE answer (
  bidder BIGINT,
  bid_count BIGINT,
  starttime TIMESTAMP(3),
  endtime TIMESTAMP(3)
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT
  bidder,
  COUNT(*),
  SESSION_START(`dateTime`, INTERVAL '10' SECOND),
  SESSION_END(`dateTime`, INTERVAL '10' SECOND)
FROM bid
GROUP BY bidder, SESSION(`dateTime`, INTERVAL '10' SECOND);
