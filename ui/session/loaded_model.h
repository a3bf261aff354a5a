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

/// What is known of the model that is loaded.
struct LoadedModel {
  QString name;
  std::string directory;
  QString device;
  QString deviceKind;           ///< "CPU", "CUDA"
  bool rowsAreBitEqual = true;  ///< on that device
  double parameters = 0;        ///< number of weights
  std::int32_t layers = 0;
  std::int64_t contextLength = 0;  ///< tokens
  bool blockAttention = false;     ///< trained for it
  std::shared_ptr<const text::Tokenizer> tokenizer;
};

/// The tokenizer goes on living with the bundle.
LoadedModel loadedModelOf(const std::shared_ptr<workbench::ModelBundle>& bundle);

}  // namespace spanscope::ui
