// SPDX-License-Identifier: GPL-3.0-or-later
// What a target refuses in a query, does otherwise than the query says, or leaves out.
#pragma once

#include "engine/base/ids.h"
#include "engine/export/target.h"
#include "engine/query/query.h"

#include <string>
#include <vector>

namespace spanscope::exports {

enum class Effect {
  Refused,  ///< the target will not take it
  Differs,  ///< the target takes it, but does something else or nothing
  Note,     ///< good to know
};

struct TargetRemark {
  Effect effect = Effect::Note;
  std::string text;  ///< one or more sentences
  /// The nodes it is about, in the order of the tree, or the one field of a node; the text says how many they
  /// are. "" is the root.
  std::vector<NodePath> places;
  bool operator==(const TargetRemark&) const = default;
};

/// How the target is written.
struct TargetSettings {
  ExportStage stage = ExportStage::Read;
  bool hasPlusMarker = true;   ///< tokens: the children of a plus are marked
  bool hasCrossMarker = true;  ///< tokens: the last child of a cross is marked
  /// JSON: what is null is left out, as the reference writes it.
  bool leavesOutNulls = false;
};

/// Everything that is to be said about writing the query, with its parameters put in, for that target: the
/// gravest first.
std::vector<TargetRemark> targetRemarks(const query::Node& query, Target target,
                                        const TargetSettings& settings = {});

}  // namespace spanscope::exports
