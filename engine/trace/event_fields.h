// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the facts and fields of every kind of event. Each kind has one row of facts and, below the row, its
// fields. The function fields(visit, value) calls visit(name, member) for each member in file order. The
// codecs, the fingerprint of the file format, the recorder, the replay, the log and the command line use
// these rows. Open this file to add an event. The struct and the variant entry belong into event.h, and the
// row into the file of its subject.
#pragma once

#include "engine/trace/event_rows/block_events.h"
#include "engine/trace/event_rows/computing_events.h"
#include "engine/trace/event_rows/facts.h"
#include "engine/trace/event_rows/session_events.h"
#include "engine/trace/event_rows/step_events.h"
