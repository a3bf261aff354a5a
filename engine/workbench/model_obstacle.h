// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"
#include "engine/workbench/settings.h"

#include <optional>
#include <string>

namespace spanscope::workbench {

struct ModelObstacle {
  Error error;
  bool isOfTemplate = false;  ///< choosing a chat template removes it
};

/// Why the checkpoint of the settings cannot be opened, as far as configuration and chat template say: their
/// weights and tokenizer are not read. Nothing: they do not prevent it.
std::optional<ModelObstacle> modelObstacle(const RunSettings& settings);

/// The name of the chat template for which the checkpoint's own is taken by its marks alone, the rest of it
/// being unknown; empty where it is known, where the person has chosen one, and where there is none.
std::string guessedTemplate(const RunSettings& settings);

}  // namespace spanscope::workbench
