// SPDX-License-Identifier: GPL-3.0-or-later
// The outlines in the attention map of the tokens, blocks and sections that are selected in any view.
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
