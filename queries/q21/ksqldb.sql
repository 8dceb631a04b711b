-- q21, add channel id: bids with a numeric id for their channel: four well-known channels by name, the others by a
-- parameter of their URL.

CREATE STREAM ${run}q21 WITH (KAFKA_TOPIC='${run}q21', VALUE_FORMAT='JSON') AS
SELECT
  auction,
  bidder,
  price,
  channel,
  CASE
    WHEN LCASE(channel) = 'apple' THEN '0'
    WHEN LCASE(channel) = 'google' THEN '1'
    WHEN LCASE(channel) = 'facebook' THEN '2'
    WHEN LCASE(channel) = 'baidu' THEN '3'
    ELSE REGEXP_EXTRACT('(&|^)channel_id=([^&]*)', url, 2)
  END AS channel_id
FROM ${run}bid
WHERE REGEXP_EXTRACT('(&|^)channel_id=([^&]*)', url, 2) IS NOT NULL
  OR LCASE(channel) IN ('apple', 'google', 'facebook', 'baidu')
EMIT CHANGES;
