// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/count_range_text.h"

namespace spanscope::cli {

std::string rangeText(const run::CountRange& range) {
  const std::string least = std::to_string(range.least);
  if (!range.bounded()) return least + " or more";
  return range.known() ? least : least + "–" + std::to_string(range.most);
}

nlohmann::ordered_json rangeJson(const run::CountRange& range) {
  const nlohmann::ordered_json most = range.bounded() ? nlohmann::ordered_json(range.most) : nullptr;
  return {{"least", range.least}, {"most", most}};
}

}  // namespace spanscope::cli
