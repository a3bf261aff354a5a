// SPDX-License-Identifier: GPL-3.0-or-later
// The words of a prompt with the attention that an answer, or one of its tokens, pays to each word. Open this
// file to change what the default display of the attention view shows.
#pragma once

#include "ui/session/view_input.h"
#include "ui/views/attention/share_bar.h"
#include "ui/views/common/answer_tokens.h"
#include "ui/views/tokens/token_strip_model.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct SourceWords {
  /// The prompt, without the answer. StripToken::looked is the share of the answer's attention on the word,
  /// for the chosen layer and head. Sections that are no sources are pale.
  TokenStrip strip;
  std::int32_t keys =
      0;  ///< tokens that share one recorded value: 1, the block size, or 0 if nothing is recorded
  bool hasSources = true;  ///< false: the prompt has no documents, so all words have the same scale
  AnswerTiles answer;      ///< the bars are the attention of each token to the selected source, or to all
  std::vector<TokenRef> answerPlaces;  ///< by tile of `answer`
  QString target;                      ///< the name of the selected source, or "documents"
  std::size_t first = 0;  ///< first token of the source to look at: the selected one, or the largest
  bool operator==(const SourceWords&) const = default;
};

/// `layer` and `head`: none is the mean.
SourceWords sourceWords(const ViewInput& input, const ShareModel& shares, std::optional<std::int32_t> layer,
                        std::optional<std::int32_t> head);

/// "Bar under a token of the answer: attention to documents. Bar under a word: …"
QString sourceWordsNote(const SourceWords& words, std::optional<std::int32_t> layer,
                        std::optional<std::int32_t> head);
/// "“Tarek”, document 2: 1.2 % of all attention"
QString sourceWordTip(const SourceWords& words, std::size_t token);

}  // namespace spanscope::ui
