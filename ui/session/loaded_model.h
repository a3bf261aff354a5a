// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/tokenizer.h"

#include <QString>

#include <cstdint>
#include <memory>
#include <string>

namespace spanscope::workbench {
struct ModelBundle;
}

namespace spanscope::ui {

/// The facts about the loaded model that the window uses.
struct LoadedModel {
  QString name;
  std::string directory;
  QString device;
  QString deviceKind;           ///< "CPU", "CUDA"
  bool rowsAreBitEqual = true;  ///< compute::DeviceInfo::rowsAreBitEqual of that device
  double parameters = 0;        ///< number of weights
  std::int32_t layers = 0;
  std::int64_t contextLength = 0;  ///< tokens
  bool blockAttention = false;     ///< the model was trained for block attention
  std::string fittingAdapter;      ///< directory of a bundled adapter that adds block attention; empty: none
  QString madeFor;                 ///< model::ModelConfig::madeFor
  std::shared_ptr<const text::Tokenizer> tokenizer;
};

/// Describes a bundle. The returned tokenizer keeps the bundle alive.
LoadedModel loadedModelOf(const std::shared_ptr<workbench::ModelBundle>& bundle);

}  // namespace spanscope::ui
