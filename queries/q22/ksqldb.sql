-- q22, URL directories: every bid with the first three directories of its URL.

CREATE STREAM ${run}q22 WITH (KAFKA_TOPIC='${run}q22', VALUE_FORMAT='JSON') AS
SELECT auction, bidder, price, channel, SPLIT(url, '/')[4] AS dir1, SPLIT(url, '/')[5] AS dir2, SPLIT(url,
  '/')[6] AS dir3
FROM ${run}bid
EMIT CHANGES;
