// SPDX-License-Identifier: GPL-3.0-or-later
// Predicted counts as text and JSON.
#pragma once

#include "engine/run/prediction.h"

#include <nlohmann/json.hpp>

#include <string>

namespace spanscope::cli {

/// "12", "12–40" or "12 or more".
std::string rangeText(const run::CountRange& range);

/// {"least":12,"most":40}; `most` is null if it is not known.
nlohmann::ordered_json rangeJson(const run::CountRange& range);

}  // namespace spanscope::cli
