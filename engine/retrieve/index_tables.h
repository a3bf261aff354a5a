// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of an index file: making, checking and pruning. Open this file to change the tables.
#pragma once

#include "engine/retrieve/fragment_index.h"
#include "engine/retrieve/index_checks.h"
#include "engine/retrieve/sqlite.h"

#include <stop_token>
#include <string>

namespace spanscope::retrieve {

/// Makes the tables of a new index. Checks that an existing file is an index of this version. Throws Failure
/// if it is not.
void prepareTables(Database& database, const std::string& file);

/// Removes from an index everything that the rule does not keep. These are documents with their chunks, words
/// and vectors, vectors of embedders, and summaries. Then returns the space to the disk. Works once a day;
/// further calls do nothing and return false. Each transaction is short and removes whole documents. A
/// program may therefore end at any moment, and other programs do not wait long. The next call completes a
/// stopped one.
bool pruneIndex(Database& database, IndexChecks& checks, const KeepRule& rule, std::stop_token stop);

}  // namespace spanscope::retrieve
