// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/source_words.h"

#include "ui/views/attention/attention_model.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace spanscope::ui {
namespace {

/// Moves the tokens of the answer from the strip to the tiles. `chosen`: the selected one; −1: none.
void moveAnswer(SourceWords& words, std::int32_t chosen) {
  TokenStrip& strip = words.strip;
  // Without sources, the tiles have no bars, so there is no scale.
  if (words.hasSources) {
    words.answer.top = partText(strip.mostLooked);
    words.answer.bottom = partText(0);
  }
  words.target = strip.lookedAt ? strip.segments[*strip.lookedAt].name : tr("documents");
  for (std::size_t i = strip.prompt; i < strip.tokens.size(); ++i) {
    const StripToken& token = strip.tokens[i];
    const bool isKnown = token.looked >= 0;
    words.answer.tiles.push_back(
        {.text = token.text,
         .description = isKnown ? tr(/*id:answer-token-reads*/ "“%1”: %2 of its attention is on %3")
                                      .arg(token.text, partText(token.looked), words.target)
                                : tr("“%1”: attention not recorded").arg(token.text),
         .value = isKnown && strip.mostLooked > 0 ? token.looked / strip.mostLooked : 0,
         .isMarked = false,
         .isQuiet = token.quiet});
    words.answerPlaces.push_back(token.place);
  }
  if (chosen >= 0 && static_cast<std::size_t>(chosen) < words.answer.tiles.size())
    words.answer.chosen = static_cast<std::size_t>(chosen);
  strip.tokens.resize(strip.prompt);
  for (StripSegment& segment : strip.segments)
    segment.count = std::min(segment.count, strip.prompt - std::min(strip.prompt, segment.first));
  strip.lookedAt.reset();
}

/// The attention of one token of the answer to one token of the prompt. `answer` −1: the mean over all tokens
/// of the answer. A column with several tokens gives each token the same part. −1: not recorded.
double massOn(const AttentionModel& map, const StripToken& token, std::int32_t answer) {
  if (token.place.segment >= map.segments.size() || token.part == StripPart::Cropped) return -1;
  const AttentionSegment& segment = map.segments[token.place.segment];
  const std::int32_t width = segment.grain == AttentionGrain::Tokens ? 1 : map.blocksPerCell * map.blockSize;
  const std::int32_t column = token.place.local / width;
  if (column >= segment.columns) return -1;
  double sum = 0;
  int rows = 0;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const std::size_t cell = map.at(static_cast<std::int32_t>(row), segment.firstColumn + column);
    if ((answer >= 0 && map.rows[row].answer != answer) || map.states[cell] != CellState::Measured) continue;
    sum += static_cast<double>(map.mass[cell]);
    ++rows;
  }
  return rows == 0 ? -1 : sum / rows / std::min(width, segment.tokens - column * width);
}

}  // namespace

SourceWords sourceWords(const ViewInput& input, const ShareModel& shares, std::optional<std::int32_t> layer,
                        std::optional<std::int32_t> head) {
  SourceWords words;
  words.strip = tokenStrip(input);
  TokenStrip& strip = words.strip;
  const std::shared_ptr<const AnswerShares> answer = answerShares(input, strip.request);
  const std::optional<std::size_t> token = selectedAnswerToken(input, *answer);
  const std::int32_t chosen = token ? answer->tokens[*token].index : -1;
  words.hasSources = std::ranges::any_of(
      strip.segments, [&](const StripSegment& segment) { return answer->isSource(segment.part); });
  moveAnswer(words, chosen);
  AttentionOptions options;
  options.layer = layer;
  options.head = head;
  options.rowSet = AttentionRowSet::Answer;
  options.bySegment = true;
  options.mostBlocks = std::numeric_limits<std::size_t>::max();
  AttentionModel map = attentionModel(input, options);
  if (map.singleKeys) {
    options.grain = AttentionGrain::Tokens;
    map = attentionModel(input, options);
  }
  strip.showsCache = false;
  strip.mostLooked = 0;
  // In a prompt without documents, every section is a source.
  const auto isSource = [&](const StripSegment& segment) {
    return !words.hasSources || answer->isSource(segment.part);
  };
  bool isKnown = false;
  for (StripToken& each : strip.tokens) {
    each.looked = massOn(map, each, chosen);
    isKnown |= each.looked >= 0;
    // The first token of a segment is an attention sink, which would make all other bars low.
    const std::int32_t first = map.singleKeys ? 1 : map.blockSize;
    const bool isCounted = each.place.local >= first || map.segments[each.place.segment].tokens <= first;
    if (isSource(strip.segments[each.segment]) && isCounted)
      strip.mostLooked = std::max(strip.mostLooked, each.looked);
  }
  if (isKnown) words.keys = map.singleKeys ? 1 : map.blockSize;
  double largest = -1;
  for (StripSegment& segment : strip.segments) {
    const SharePiece* piece = shares.of(segment.part);
    segment.isPale = !isSource(segment);
    segment.facts = piece == nullptr ? QString()
                    : segment.isPale || !words.hasSources
                        ? tr("%1 of all attention").arg(partText(piece->mass))
                        : tr(/*id:document-share-facts*/ "document share %1 · %2 of all attention")
                              .arg(partText(std::max(0.0, piece->share)), partText(piece->mass));
    if (piece == nullptr || segment.isPale) continue;
    const double rank = piece->selected ? std::numeric_limits<double>::max() : piece->share;
    if (rank <= largest) continue;
    largest = rank;
    words.first = segment.first;
  }
  return words;
}

QString sourceWordsNote(const SourceWords& words, std::optional<std::int32_t> layer,
                        std::optional<std::int32_t> head) {
  if (words.keys == 0) return tr(/*id:words-not-recorded*/ "The attention to single words was not recorded.");
  const QString of = tr("%1, %2").arg(layer ? tr("layer %1").arg(*layer) : tr("mean of layers"),
                                      head ? tr("head %1").arg(*head) : tr("mean of heads"));
  const QString most = partText(words.strip.mostLooked);
  const QString answer =
      words.hasSources
          ? tr("Bar under a token of the answer: attention to %1.").arg(words.target) + QLatin1Char(' ')
          : QString();
  return answer +
         (words.keys == 1
              ? tr(/*id:words-by-token*/ "Bar under a word: attention to this word. Highest bar: %1, %2.")
                    .arg(most, of)
              : tr(/*id:words-by-block*/
                   "Bar under a word: attention to the block of %1 tokens with this word, per token. Highest "
                   "bar: %2, %3. Choose a "
                   "layer to recompute single words.")
                    .arg(words.keys)
                    .arg(most, of));
}

QString sourceWordTip(const SourceWords& words, std::size_t token) {
  if (token >= words.strip.tokens.size()) return {};
  const StripToken& own = words.strip.tokens[token];
  const QString name = tr("“%1”, %2").arg(own.text, words.strip.segments[own.segment].name);
  if (own.looked < 0) return tr("%1: attention not recorded").arg(name);
  const QString text = tr("%1: %2 of all attention").arg(name, partText(own.looked));
  return words.keys == 1 ? text : text + tr(", as the mean of its block");
}

}  // namespace spanscope::ui
