-- q3, local item suggestion: who offers an item of category 10 in Oregon, Idaho or California: auctions with their
-- sellers, however far apart the two arrive.

CREATE TABLE ${run}q3 WITH (KAFKA_TOPIC='${run}q3', VALUE_FORMAT='JSON') AS
SELECT a.id AS id, p.name AS name, p.city AS city, p.state AS state
FROM ${run}auction_t a
JOIN ${run}person_t p ON a.seller = p.id
WHERE a.category = 10 AND (p.state = 'OR' OR p.state = 'ID' OR p.state = 'CA')
EMIT CHANGES;
