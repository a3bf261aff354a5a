// SPDX-License-Identifier: GPL-3.0-or-later
// What the span store holds, by the trace's last report: blocks that have left the pool, or that outlive the
// program.
#pragma once

#include "ui/session/view_input.h"

#include <QString>

#include <vector>

namespace spanscope::ui {

/// The name of a tier: "host memory", "disk".
QString tierName(trace::StoreTier tier);
/// The place from which something was loaded: "the disk".
QString tierPlace(trace::StoreTier tier);

struct StoreRow {
  bool isTier = false;  ///< the row is a whole tier; else a part of one
  trace::StoreTier tier = trace::StoreTier::Host;
  QString name;             ///< name of the tier, or of the model of the part
  QString text;             ///< a few words of what stands in the part; empty: not known, or a tier
  QString blocks;           ///< how many
  QString tokens;           ///< how many
  QString size;             ///< bytes; for a tier also its limit
  QString stored;           ///< how long ago it was stored; empty for a tier
  QString used;             ///< how long ago it was last used; empty for a tier
  bool ofThisModel = true;  ///< lookups of the session can find it
  bool operator==(const StoreRow&) const = default;
};

struct StoreTable {
  std::vector<StoreRow> rows;  ///< each tier comes before its parts; empty: no tier is in use
  QString summary;             ///< "disk 110 blocks, 2.1 MiB"
  bool operator==(const StoreTable&) const = default;
};

StoreTable storeTable(const ViewInput& input);

/// Lines to append to poolCsv(). Each has the name of a part, its tier in place of a state, and what it
/// holds.
QString storeCsv(const ViewInput& input);

}  // namespace spanscope::ui
