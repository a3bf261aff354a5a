// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the attention map that are outlined because they are selected in some view.
#pragma once

#include "ui/session/selection.h"
#include "ui/views/attention/attention_model.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct AttentionMarks {
  std::optional<std::int32_t> row;
  std::optional<std::int32_t> column;
  std::vector<std::size_t> parts;  ///< indices in AttentionModel::parts
  bool operator==(const AttentionMarks&) const = default;
};

AttentionMarks attentionMarks(const AttentionModel& model, const Selection& selection);

}  // namespace spanscope::ui
