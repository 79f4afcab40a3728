-- When a model was first served here: what `created` says of models that nobody knows the age of.

CREATE TABLE models_first_served (
    model_id TEXT PRIMARY KEY,
    -- Seconds since the Unix epoch.
    first_served_at BIGINT NOT NULL
);
