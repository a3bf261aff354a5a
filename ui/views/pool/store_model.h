// SPDX-License-Identifier: GPL-3.0-or-later
// What the span store holds, as the trace last said: blocks that left the pool, or outlive the program.
#pragma once

#include "ui/session/view_input.h"

#include <QString>

#include <vector>

namespace spanscope::ui {

/// The name of a tier: "host memory", "disk".
QString tierName(trace::StoreTier tier);
/// "the disk": where something was loaded from.
QString tierPlace(trace::StoreTier tier);

struct StoreRow {
  bool isTier = false;  ///< all of a tier; else a part of it
  trace::StoreTier tier = trace::StoreTier::Host;
  QString name;             ///< of the tier, or the model that the part is of
  QString blocks;           ///< how many
  QString tokens;           ///< how many
  QString size;             ///< bytes, of a tier with its bound
  QString stored;           ///< how long ago; empty for a tier
  QString used;             ///< how long ago last; empty for a tier
  bool ofThisModel = true;  ///< the session can find it
  bool operator==(const StoreRow&) const = default;
};

struct StoreTable {
  std::vector<StoreRow> rows;  ///< each tier before its parts; empty: no tier is in use
  QString summary;             ///< "disk 110 blocks, 2.1 MiB"
  bool operator==(const StoreTable&) const = default;
};

StoreTable storeTable(const ViewInput& input);

/// Lines for the table of the pool: of each part its name, its tier in place of a state, and what it holds.
QString storeCsv(const ViewInput& input);

}  // namespace spanscope::ui
