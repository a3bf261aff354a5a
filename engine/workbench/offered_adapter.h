// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/model/config.h"

#include <filesystem>
#include <optional>
#include <string>

namespace spanscope::workbench {

/// An adapter that comes with the program and makes a model one that was trained for block attention.
struct OfferedAdapter {
  std::filesystem::path directory;
  std::string base;  ///< the model that it was made for: "SmolLM2-135M-Instruct"

  std::string name() const { return directory.filename().string(); }
};

/// The adapter in resources/models that fits a model with this configuration: all of its matrices have the
/// shapes of the model's, in all layers. Nothing if there is none, or the model needs none.
std::optional<OfferedAdapter> offeredAdapter(const model::ModelConfig& config);

}  // namespace spanscope::workbench
