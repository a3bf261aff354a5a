// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/doctor/comparison.h"

#include "engine/base/utf8.h"
#include "engine/doctor/redaction.h"

#include <algorithm>
#include <span>

namespace spanscope::doctor {
namespace {

/// Hides every token that has a part of a secret.
void hideSecrets(std::vector<std::string>& texts) {
  std::string whole;
  for (const std::string& text : texts) whole += text;
  const std::vector<SecretRange> secrets = secretsIn(whole);
  auto secret = secrets.begin();
  std::size_t at = 0;
  for (std::string& text : texts) {
    const std::size_t end = at + text.size();
    while (secret != secrets.end() && secret->end <= at) ++secret;
    if (secret != secrets.end() && secret->begin < end) text = std::string(kRedacted);
    at = end;
  }
}

PromptPieces piecesOf(const LoggedRequest& request, const PromptTokens& tokens,
                      const PromptTokenizer& tokenizer) {
  PromptPieces made{.texts = tokenizer.pieces(request, tokens), .sections = tokens.sections, .names = {}};
  hideSecrets(made.texts);
  for (std::string& text : made.texts) text = toValidUtf8(text);
  for (const SectionTokens& section : made.sections)
    made.names.push_back(sectionName(request, section.section));
  return made;
}

/// Returns the parts after `from` that are repeats. Of two overlapping repeats, the later one is cut.
std::vector<Repeat> withoutOverlap(const std::vector<Repeat>& repeats, std::size_t from) {
  std::vector<Repeat> kept;
  std::size_t at = from;
  for (const Repeat& repeat : repeats) {
    const std::size_t begin = std::max(at, repeat.begin);
    const std::size_t end = repeat.begin + repeat.count;
    if (end <= begin) continue;
    kept.push_back(
        {.begin = begin, .count = end - begin, .request = 0, .at = repeat.at + begin - repeat.begin});
    at = end;
  }
  return kept;
}

}  // namespace

PromptComparison comparePrompts(const LoggedRequest& before, const LoggedRequest& now,
                                const PromptTokenizer& tokenizer, std::size_t repeatTokens,
                                const std::stop_token& stop) {
  const PromptTokens one = tokenizer.tokens(before, stop);
  const PromptTokens other = tokenizer.tokens(now, stop);
  Alignment alignment(repeatTokens);
  alignment.add({.tokens = std::span(one.ids).first(one.prompt), .prompt = one.prompt});
  const Alignment::Found found =
      alignment.add({.tokens = std::span(other.ids).first(other.prompt), .prompt = other.prompt});
  PromptComparison made{.before = piecesOf(before, one, tokenizer),
                        .now = piecesOf(now, other, tokenizer),
                        .common = std::min(found.common, other.prompt),
                        .repeats = {},
                        .isEstimated = one.isEstimated || other.isEstimated};
  std::vector<Repeat> repeats;
  // A prompt can repeat its own texts. These are not in the earlier prompt.
  for (const Repeat& repeat : found.repeats)
    if (repeat.request == 0 && repeat.at + repeat.count <= one.prompt) repeats.push_back(repeat);
  made.repeats = withoutOverlap(repeats, made.common);
  return made;
}

}  // namespace spanscope::doctor
