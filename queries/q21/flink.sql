-- q21, add channel id: bids with a numeric id for their channel: four well-known channels by name, the others by a parameter
-- of their URL. Bids with neither are left out.

CREATE TABLE answer (
  auction BIGINT,
  bidder BIGINT,
  price BIGINT,
  channel STRING,
  channel_id STRING
) WITH (
  'connector' = 'nexmark-sink'
);

INSERT INTO answer
SELECT
  auction,
  bidder,
  price,
  channel,
  CASE
    WHEN LOWER(channel) = 'apple' THEN '0'
    WHEN LOWER(channel) = 'google' THEN '1'
    WHEN LOWER(channel) = 'facebook' THEN '2'
    WHEN LOWER(channel) = 'baidu' THEN '3'
    ELSE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2)
  END
FROM bid
WHERE
  REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) IS NOT NULL
  OR LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu');
