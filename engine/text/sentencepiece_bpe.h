// SPDX-License-Identifier: GPL-3.0-or-later
// A sentencepiece model that merges pairs, as the tables of byte-pair encoding.
#pragma once

#include "engine/text/bpe_model.h"
#include "engine/text/sentencepiece_model.h"

#include <optional>

namespace spanscope::text {

/// Takes a text with its spaces as they are, without the mark of a space, and without the user-defined
/// pieces, which no merge reaches across. The model must be one in which markers have the type Control.
/// Nothing if byte pairs cannot say what the model does: a piece that is not used can be made by merges, or a
/// character that is no piece is part of one that can.
std::optional<BpeModel> bpeModelOf(const SentencePieceModel& model);

}  // namespace spanscope::text
