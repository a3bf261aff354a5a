// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of every kind of event, said once: a row of facts and, below it, its fields, where
// `fields(visit, value)` calls visit(name, member) for each member in file order. The binary codec, the JSON
// form, the fingerprint of the file format, the tests' random values, the recorder, the replay, the indices
// of the window's store, the log and the command line are made from these rows. A new event needs its struct
// and variant entry in event.h, and its row in the file of its subject.
#pragma once

#include "engine/trace/event_rows/attention_events.h"
#include "engine/trace/event_rows/block_events.h"
#include "engine/trace/event_rows/computing_events.h"
#include "engine/trace/event_rows/facts.h"
#include "engine/trace/event_rows/server_events.h"
#include "engine/trace/event_rows/session_events.h"
#include "engine/trace/event_rows/step_events.h"
