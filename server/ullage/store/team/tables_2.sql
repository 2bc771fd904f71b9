-- Version 2: words are found as they are in the log of one machine. PostgreSQL's own reading takes `server/tank.py` or `max_depth` for one word each,
-- so that neither "tank" nor "depth" is found. Here every sign separates, and letters count without their accents.

CREATE FUNCTION ullage.plain(said text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT translate(
        said,
        $t$!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~“”‘’„«»…–—·•、。，；：？！（）《》「」【】ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöùúûüýÿĀāĂăĄąĆćĈĉĊċČčĎďĒēĔĕĖėĘęĚěĜĝĞğĠġĢģĤĥĨĩĪīĬĭĮįİĴĵĶķĹĺĻļĽľŃńŅņŇňŌōŎŏŐőŔŕŖŗŘřŚśŜŝŞşŠšŢţŤťŨũŪūŬŭŮůŰűŲųŴŵŶŷŸŹźŻżŽž$t$,
        $t$                                                           AAAAAACEEEEIIIINOOOOOUUUUYaaaaaaceeeeiiiinooooouuuuyyAaAaAaCcCcCcCcDdEeEeEeEeEeGgGgGgGgHhIiIiIiIiIJjKkLlLlLlNnNnNnOoOoOoRrRrRrSsSsSsSsTtTtUuUuUuUuUuUuWwYyYZzZzZz$t$
    )
$$;

-- A query for words or beginnings of words: all of them (joint is '&'), or any ('|'). A word with signs in it is a phrase.
CREATE FUNCTION ullage.asked(words text[], joint text) RETURNS tsquery LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT to_tsquery('simple', coalesce(string_agg(phrase, joint), ''))
    FROM unnest(words) AS word, LATERAL (
        SELECT string_agg('''' || part || '''', ' <-> ' ORDER BY place) || ':*'
        FROM regexp_split_to_table(ullage.plain(word), '\s+') WITH ORDINALITY AS parts (part, place) WHERE part <> ''
    ) AS of_word (phrase)
    WHERE phrase IS NOT NULL
$$;

-- The text around the first of the words. A plain text is as long as the text.
CREATE FUNCTION ullage.excerpt(said text, words text[]) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT substr(said, greatest(1, coalesce(min(nullif(strpos(lower(ullage.plain(said)), lower(btrim(ullage.plain(word)))), 0)), 1) - 60), 200)
    FROM unnest(words) AS word
$$;

ALTER TABLE ullage.passage DROP COLUMN words;
ALTER TABLE ullage.passage ADD COLUMN words tsvector GENERATED ALWAYS AS (to_tsvector('simple', ullage.plain(said))) STORED;
CREATE INDEX passage_words ON ullage.passage USING gin (words);
CREATE INDEX passage_newest ON ullage.passage (workspace, at DESC);

REVOKE ALL ON FUNCTION ullage.plain(text), ullage.asked(text[], text), ullage.excerpt(text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ullage.plain(text), ullage.asked(text[], text), ullage.excerpt(text, text[]) TO ullage_member;
