// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/sqlite.h"

#include <string>

namespace spanscope::retrieve {

/// Makes the tables of a new index. For an existing file, checks that it is an index of this version. Throws
/// Failure if it is not.
void prepareTables(Database& database, const std::string& file);

}  // namespace spanscope::retrieve
