-- q8, monitor new users: persons who registered and opened an auction within the same 10 s window; one row for each.

CREATE STREAM ${run}q8_join WITH (KAFKA_TOPIC='${run}q8_join', VALUE_FORMAT='JSON') AS
SELECT p.id AS id, p.name AS name, p.ROWTIME / 10000 * 10000 AS starttime
FROM ${run}person p
JOIN ${run}auction a WITHIN 10 SECONDS GRACE PERIOD 1 DAY ON p.id = a.seller
WHERE p.ROWTIME / 10000 = a.ROWTIME / 10000
EMIT CHANGES;

CREATE TABLE ${run}q8 WITH (KAFKA_TOPIC='${run}q8', KEY_FORMAT='JSON', VALUE_FORMAT='JSON') AS
SELECT id, name, starttime, COUNT(*) AS n
FROM ${run}q8_join
GROUP BY id, name, starttime
EMIT CHANGES;
