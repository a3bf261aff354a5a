// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/tokens/token_strip_model.h"

#include "ui/session/answer_shares.h"
#include "ui/session/token_account.h"
#include "ui/views/common/layout_marks.h"
#include "ui/views/common/marker_tokens.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/words/metric_words.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>

namespace spanscope::ui {
namespace {

bool startsWord(const std::string& text) {
  const QString own = QString::fromStdString(text.substr(0, 3));
  return own.isEmpty() || own.front().isSpace() || own.front() == QChar(0x2581);
}

class StripMaker {
  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::StripMaker)
 public:
  StripMaker(const ViewInput& input, RequestId id) : m_input(input), m_state(input.state()) {
    const auto found = m_state.progress().requests.find(id);
    if (found == m_state.progress().requests.end()) return;
    m_request = &found->second;
    m_strip.request = id;
    m_strip.run = m_request->run;
  }

  TokenStrip make() {
    if (m_request == nullptr) return {};
    m_blocks = requestBlocks(*m_input.trace, m_state, m_strip.request);
    m_strip.blockSize = m_blocks.blockSize;
    const RequestAccount account(m_input, m_strip.request);
    for (std::uint32_t i = 0; i < m_request->segments.size(); ++i) m_recomputed[i] = account.again(i);
    m_strip.beside = account.beside();
    m_marks = layoutMarks(m_input, m_strip.request);
    m_strip.layout = m_marks.layout;
    const RequestParts parts = requestParts(m_input, m_strip.request);
    for (const trace::PartRange& range : parts.parts.visible()) {
      const bool goesOn = !m_strip.segments.empty() && m_strip.segments.back().part == range.part;
      if (!goesOn) {
        m_strip.segments.push_back({.part = range.part,
                                    .name = parts.names[range.part].name,
                                    .hue = parts.names[range.part].hue,
                                    .id = parts.names[range.part].id,
                                    .first = m_strip.tokens.size(),
                                    .count = 0});
      }
      addPrompt(range);
      m_strip.prompt = m_strip.tokens.size();
      if (&range == &parts.parts.visible().back()) addGenerated(range.segment);
      StripSegment& segment = m_strip.segments.back();
      segment.count = m_strip.tokens.size() - segment.first;
    }
    for (std::size_t i = 0; i < m_request->segments.size(); ++i) {
      if (!m_request->segments[i].hidden) countBlocks(i);
    }
    addLooks();
    addFacts();
    m_strip.summary = summary();
    return std::move(m_strip);
  }

 private:
  bool isRecomputed(std::uint32_t segment, std::int32_t local) const {
    const auto found = m_recomputed.find(segment);
    return found != m_recomputed.end() &&
           std::binary_search(found->second.begin(), found->second.end(), local);
  }

  void addPrompt(const trace::PartRange& range) {
    const trace::SegmentInfo& info = m_request->segments[range.segment];
    std::size_t run = 0;
    std::int32_t runEnd = info.runs.empty() ? 0 : info.runs.front().count;
    bool afterMarker = true;
    if (m_visible == 0) addCropped(range.segment, range.begin);
    const auto end = static_cast<std::size_t>(range.end);
    for (auto local = static_cast<std::size_t>(range.begin); local < end; ++local) {
      while (run < info.runs.size() && static_cast<std::int32_t>(local) >= runEnd) {
        if (++run < info.runs.size()) runEnd += info.runs[run].count;
      }
      const bool fromTemplate =
          run < info.runs.size() && info.runs[run].source == trace::TokenSource::Template;
      const std::string text =
          local < info.texts.size() ? info.texts[local] : "#" + std::to_string(info.tokens[local]);
      const bool marker = fromTemplate && isMarker(text);
      StripToken token;
      token.text = shownToken(text);
      token.quiet = fromTemplate;
      token.joined = !marker && !afterMarker && !startsWord(text);
      afterMarker = marker;
      if (const auto role = m_marks.roleOf(range.segment, static_cast<std::int32_t>(local))) {
        token.part = *role == trace::LayoutRole::Pad ? StripPart::Pad : StripPart::Marker;
        token.text = roleText(*role);
        token.joined = *role == trace::LayoutRole::Pad;
        afterMarker = true;
      }
      add(range.segment, static_cast<std::int32_t>(local), std::move(token));
      ++m_visible;
      addCropped(range.segment, static_cast<std::int32_t>(local));
    }
  }

  /// Adds the cropped tokens whose place has been reached.
  void addCropped(std::uint32_t segment, std::int32_t local) {
    for (; m_cropped < m_marks.cropped.size() && m_marks.cropped[m_cropped].before <= m_visible;
         ++m_cropped) {
      const trace::CroppedRun& run = m_marks.cropped[m_cropped];
      for (std::size_t i = 0; i < run.tokens.size(); ++i) {
        const std::string text = i < run.texts.size() ? run.texts[i] : "#" + std::to_string(run.tokens[i]);
        StripToken token;
        token.place = {m_strip.request, segment, local};
        token.segment = m_strip.segments.size() - 1;
        token.text = shownToken(text);
        token.quiet = true;
        token.joined = i > 0 && !isMarker(text) && !startsWord(text);
        token.part = StripPart::Cropped;
        token.cropped = run.tokens[i];
        token.computed = false;
        token.position = m_request->segments[segment].base + local;
        m_strip.tokens.push_back(std::move(token));
        ++m_strip.cropped;
      }
    }
  }

  void addGenerated(std::uint32_t segment) {
    const auto prompt = static_cast<std::int32_t>(m_request->segments[segment].tokens.size());
    bool afterMarker = true;
    for (const GeneratedToken& own : generatedTokens(*m_input.trace, m_strip.request, m_input.position)) {
      const bool marker = isMarker(own.token->shown);
      StripToken token;
      token.text = shownToken(own.token->shown);
      token.quiet = marker;
      token.joined = !marker && !afterMarker && !startsWord(own.token->shown);
      token.generated = true;
      token.probability = own.token->probability;
      afterMarker = marker;
      add(segment, prompt + own.token->index, std::move(token));
    }
  }

  void add(std::uint32_t segment, std::int32_t local, StripToken token) {
    token.place = {m_strip.request, segment, local};
    token.segment = m_strip.segments.size() - 1;
    token.position = m_request->segments[segment].base + local;
    const std::int32_t slot = local % m_strip.blockSize;
    const VirtualBlockFacts* block = m_blocks.find({m_strip.request, segment, local / m_strip.blockSize});
    token.computed = block != nullptr && slot < block->tokens;
    if (token.computed) {
      token.block = block->number;
      token.physical = block->physical;
      token.role = block->role;
      if (block->role == BlockRole::Computed && slot < block->found) token.role = block->foundRole;
      token.recomputed = isRecomputed(segment, local);
      if (token.recomputed) {
        token.role = BlockRole::Computed;
        ++m_strip.recomputed;
      }
      if (token.role == BlockRole::Hit || token.role == BlockRole::Relocated)
        token.storedAt = storedBase(*block) < 0 ? -1 : storedBase(*block) + local;
      token.opensBlock = slot == 0;
      if (slot + 1 == block->tokens && block->tokens < m_strip.blockSize) token.tail = block->tokens;
    }
    m_strip.tokens.push_back(std::move(token));
  }

  /// The start position at which the segment of a reused block was stored; −1: not known.
  std::int64_t storedBase(const VirtualBlockFacts& block) {
    if (m_lookup != block.lookup) {
      const trace::BlockLookedUp* lookup = lookupEvent(*m_input.trace, block.lookup);
      m_lookup = block.lookup;
      m_storedBase = lookup == nullptr ? -1 : lookup->storedBase;
    }
    return m_storedBase;
  }

  /// Adds the attention of each answer token to the selected source, or to all sources.
  void addLooks() {
    const std::shared_ptr<const AnswerShares> shares = answerShares(m_input, m_strip.request);
    if (!shares->hasSources()) return;
    const std::optional<std::uint32_t> source = selectedSource(m_input, *shares);
    for (std::size_t i = 0; i < m_strip.segments.size(); ++i) {
      if (source && m_strip.segments[i].part == *source) m_strip.lookedAt = i;
    }
    for (std::size_t i = 0; i < shares->tokens.size(); ++i) {
      const std::size_t token = m_strip.prompt + static_cast<std::size_t>(shares->tokens[i].index);
      if (token >= m_strip.tokens.size()) continue;
      m_strip.tokens[token].looked = source ? shares->onPart(*source, i) : shares->onSources(i);
      m_strip.mostLooked = std::max(m_strip.mostLooked, m_strip.tokens[token].looked);
    }
  }

  /// "20 tokens · positions 13–32 · stored at 31–50"
  QString factsOf(std::size_t first, std::size_t end) const {
    const auto range = [](std::int64_t from, std::int64_t to) {
      return from == to ? QString::number(from) : tr("%1–%2").arg(from).arg(to);
    };
    const StripToken* front = nullptr;
    const StripToken* back = nullptr;
    const StripToken* moved = nullptr;  // the first relocated token
    std::int64_t movedTo = 0;
    std::size_t count = 0;
    for (std::size_t i = first; i < end; ++i) {
      const StripToken& token = m_strip.tokens[i];
      if (token.cropped >= 0) continue;
      if (front == nullptr) front = &token;
      back = &token;
      ++count;
      if (token.storedAt < 0 || token.storedAt == token.position) continue;
      if (moved == nullptr) moved = &token;
      movedTo = token.storedAt;
    }
    if (front == nullptr) return {};
    QStringList facts{
        count == 1 ? tr("1 token") : tr("%1 tokens").arg(count),
        (count == 1 ? tr("position %1") : tr("positions %1")).arg(range(front->position, back->position))};
    if (moved != nullptr)
      facts << tr(/*id:strip-stored-at*/ "relocated, stored at %1").arg(range(moved->storedAt, movedTo));
    return facts.join(QStringLiteral(" · "));
  }

  /// Returns the number of tokens at the end of the prompt that belong to no message: the generation prompt.
  std::size_t tokensOfGenerationPrompt() const {
    if (m_strip.prompt == 0) return 0;
    const trace::SegmentInfo& last = m_request->segments[m_strip.tokens[m_strip.prompt - 1].place.segment];
    std::int32_t count = 0;
    for (auto run = last.runs.rbegin(); run != last.runs.rend() && run->node == m_request->node; ++run)
      count += run->count;
    return static_cast<std::size_t>(count);
  }

  void addFacts() {
    for (StripSegment& segment : m_strip.segments)
      segment.facts = factsOf(segment.first, std::min(segment.first + segment.count, m_strip.prompt));
    // The card of the last message does not count these tokens.
    if (const std::size_t count = tokensOfGenerationPrompt(); count > 0 && count < m_strip.prompt) {
      const auto last =
          std::find_if(m_strip.segments.rbegin(), m_strip.segments.rend(),
                       [this](const StripSegment& each) { return each.first < m_strip.prompt; });
      last->facts += count == 1 ? tr(/*id:strip-last-begins*/ " · the last token is the generation prompt")
                                : tr(" · the last %1 tokens are the generation prompt").arg(count);
    }
    m_strip.answerFacts = factsOf(m_strip.prompt, m_strip.tokens.size());
    if (m_strip.mostLooked <= 0) return;
    m_strip.answerFacts +=
        tr(/*id:strip-attention-bar*/ " · bar: attention to %1, up to %2")
            .arg(m_strip.lookedAt ? m_strip.segments[*m_strip.lookedAt].name : tr("all documents"),
                 partText(m_strip.mostLooked));
  }

  void countBlocks(std::size_t segment) {
    if (segment >= m_blocks.segments.size()) return;
    for (const VirtualBlockFacts& block : m_blocks.segments[segment].blocks) {
      (block.tokens == m_strip.blockSize ? m_strip.fullBlocks : m_strip.tails) += 1;
    }
  }

  QString summary() const {
    if (m_strip.tokens.empty()) return tr("no tokens");
    const auto counted = [](const QString& one, const QString& many, std::size_t count) {
      return (count == 1 ? one : many).arg(count);
    };
    QStringList parts{counted(tr("%1 token"), tr("%1 tokens"), m_strip.prompt - m_strip.cropped)};
    if (!m_marks.isExact()) parts << tr("%1: %2").arg(m_marks.layout, layoutSummary(m_marks));
    const std::size_t generated = m_strip.tokens.size() - m_strip.prompt;
    if (generated > 0) parts << metricPhrase("generated-tokens", static_cast<double>(generated));
    if (m_strip.beside > 0)
      parts << metricPhrase("tokens-beside-the-prompt", static_cast<double>(m_strip.beside));
    if (m_strip.recomputed > 0)
      parts << metricPhrase("tokens-computed-again", static_cast<double>(m_strip.recomputed));
    parts << counted(tr("%1 full block"), tr("%1 full blocks"), static_cast<std::size_t>(m_strip.fullBlocks));
    parts << counted(tr("%1 partial block"), tr("%1 partial blocks"),
                     static_cast<std::size_t>(m_strip.tails));
    return parts.join(QStringLiteral(" · "));
  }

  const ViewInput& m_input;
  const trace::Replay& m_state;
  const trace::RequestState* m_request = nullptr;
  RequestBlocks m_blocks;
  LayoutMarks m_marks;
  std::int64_t m_visible = 0;                                       ///< visible tokens of the prompt so far
  std::size_t m_cropped = 0;                                        ///< ranges of cropped tokens so far
  std::map<std::uint32_t, std::vector<std::int32_t>> m_recomputed;  ///< local tokens by segment, ascending
  std::uint64_t m_lookup = 0;                                       ///< lookup of `m_storedBase`
  std::int64_t m_storedBase = -1;
  TokenStrip m_strip;
};

/// "Document shares: document 7 (41 %), document 3 (22 %)". Empty if nothing was recorded.
QString lookText(const ViewInput& input, const TokenStrip& strip, const StripToken& own) {
  constexpr std::size_t kMost = 3;
  const std::shared_ptr<const AnswerShares> shares = answerShares(input, strip.request);
  const auto& requests = input.state().progress().requests;
  const auto request = requests.find(strip.request);
  if (request == requests.end() || own.place.segment >= request->second.segments.size()) return {};
  const auto prompt = static_cast<std::int32_t>(request->second.segments[own.place.segment].tokens.size());
  for (std::size_t i = 0; i < shares->tokens.size(); ++i) {
    if (shares->tokens[i].index != own.place.local - prompt) continue;
    std::vector<std::pair<double, QString>> parts;
    for (const StripSegment& segment : strip.segments) {
      const double share = shares->share(segment.part, i);
      if (share > 0) parts.emplace_back(share, segment.name);
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    parts.resize(std::min(parts.size(), kMost));
    QStringList texts;
    for (const auto& [share, name] : parts) texts << tr("%1 (%2)").arg(name, partText(share));
    return texts.isEmpty() ? QString() : tr("Document shares: %1").arg(texts.join(tr(", ")));
  }
  return {};
}

/// The exact text and the id of a token of the strip.
std::pair<QString, TokenId> exactToken(const ViewInput& input, const StripToken& token) {
  if (token.part == StripPart::Cropped) return {token.text, token.cropped};
  const auto& requests = input.state().progress().requests;
  const auto request = requests.find(token.place.request);
  if (request == requests.end() || token.place.segment >= request->second.segments.size())
    return {token.text, -1};
  const trace::SegmentInfo& info = request->second.segments[token.place.segment];
  const auto local = static_cast<std::size_t>(token.place.local);
  if (local < info.tokens.size()) {
    return {local < info.texts.size() ? QString::fromStdString(info.texts[local]) : token.text,
            info.tokens[local]};
  }
  const std::vector<GeneratedToken> generated =
      generatedTokens(*input.trace, token.place.request, input.position);
  const std::size_t index = local - info.tokens.size();
  if (index >= generated.size()) return {token.text, -1};
  return {QString::fromStdString(generated[index].token->shown), generated[index].token->token};
}

QString visibleText(QString text) {
  text.replace(QLatin1Char('\n'), QChar(0x23CE));
  text.replace(QLatin1Char('\t'), QChar(0x21E5));
  return text;
}

}  // namespace

TokenStrip tokenStrip(const ViewInput& input) {
  return StripMaker(input, input.shownRequest()).make();
}

std::size_t selectedToken(const TokenStrip& strip, const Selection& selection) {
  std::uint32_t segment = 0;
  std::int32_t local = 0;
  if (selection.token && selection.token->request == strip.request) {
    segment = selection.token->segment;
    local = selection.token->local;
  } else if (selection.block && selection.block->request == strip.request) {
    segment = selection.block->segment;
    local = selection.block->virtualIndex * strip.blockSize;
  } else {
    return strip.tokens.size();
  }
  const auto found =
      std::lower_bound(strip.tokens.begin(), strip.tokens.end(), std::pair(segment, local),
                       [](const StripToken& token, const std::pair<std::uint32_t, std::int32_t>& wanted) {
                         return std::pair(token.place.segment, token.place.local) < wanted;
                       });
  if (found == strip.tokens.end() || found->place.segment != segment) return strip.tokens.size();
  return static_cast<std::size_t>(found - strip.tokens.begin());
}

QString tokenTip(const ViewInput& input, const TokenStrip& strip, std::size_t token) {
  if (token >= strip.tokens.size()) return {};
  const StripToken& own = strip.tokens[token];
  const auto [text, id] = exactToken(input, own);
  QStringList lines;
  lines << tr("“%1” · token %2").arg(visibleText(text)).arg(id);
  if (own.part == StripPart::Cropped) {
    lines << tr("Cropped: this token of %1 is missing, because the layout %2 ends answers at a block "
                "boundary")
                 .arg(strip.segments[own.segment].name, strip.layout);
    return lines.join(QLatin1Char('\n'));
  }
  if (own.part == StripPart::Pad)
    lines << tr("Padding: the layout %1 fills the block before the next delimiter").arg(strip.layout);
  if (own.part == StripPart::Marker) {
    lines << (own.text == QStringLiteral("@")
                  ? tr("Cross delimiter: the last child of a cross begins here, at a block boundary")
                  : tr("Plus delimiter: a child of a plus begins here, at a block boundary"));
  }
  lines << tr("%1, token %2 · position %3")
               .arg(strip.segments[own.segment].name)
               .arg(own.place.local)
               .arg(own.position);
  if (own.storedAt >= 0 && own.storedAt != own.position)
    lines << tr(/*id:token-stored-at*/ "Stored at position %1").arg(own.storedAt);
  if (!own.computed) {
    lines << tr("The token was sampled, but not computed yet, so no block contains the token");
  } else {
    QString block = tr("Block %1, slot %2").arg(own.block).arg(own.place.local % strip.blockSize);
    if (own.physical != kNullBlock)
      block += tr(" · physical #%1 · %2").arg(own.physical).arg(Theme::name(own.role));
    lines << block;
  }
  if (own.recomputed) lines << tr("Recomputed by the policy, with attention to all earlier text");
  if (own.generated) {
    lines << tr("Generated, probability %1").arg(double(own.probability), 0, 'f', 3);
    if (own.looked >= 0 && strip.lookedAt)
      lines << tr("%1 of this token's attention is on %2")
                   .arg(partText(own.looked), strip.segments[*strip.lookedAt].name);
    if (const QString looks = lookText(input, strip, own); !looks.isEmpty()) lines << looks;
  } else if (own.quiet && own.part == StripPart::Own) {
    lines << tr("Written by the chat template");
  }
  return lines.join(QLatin1Char('\n'));
}

QString tokenStripCsv(const ViewInput& input, const TokenStrip& strip) {
  QString csv = csvLine({QStringLiteral("index"), QStringLiteral("segment"), QStringLiteral("name"),
                         QStringLiteral("local"), QStringLiteral("position"), QStringLiteral("token"),
                         QStringLiteral("text"), QStringLiteral("block"), QStringLiteral("slot"),
                         QStringLiteral("physical"), QStringLiteral("served"), QStringLiteral("generated"),
                         QStringLiteral("looked at selected"), QStringLiteral("computed again"),
                         QStringLiteral("layout")});
  const auto partName = [](const StripToken& token) {
    switch (token.part) {
      case StripPart::Own:
        break;
      case StripPart::Pad:
        return QStringLiteral("pad");
      case StripPart::Marker:
        return QStringLiteral("marker");
      case StripPart::Cropped:
        return QStringLiteral("cropped");
    }
    return QString();
  };
  for (std::size_t i = 0; i < strip.tokens.size(); ++i) {
    const StripToken& token = strip.tokens[i];
    const auto [text, id] = exactToken(input, token);
    csv +=
        csvLine({QString::number(i), QString::number(token.place.segment), strip.segments[token.segment].name,
                 QString::number(token.place.local), QString::number(token.position), QString::number(id),
                 text, token.block < 0 ? QString() : QString::number(token.block),
                 QString::number(token.place.local % strip.blockSize),
                 token.physical == kNullBlock ? QString() : QString::number(token.physical),
                 token.computed ? Theme::name(token.role) : QString(),
                 token.generated ? QStringLiteral("1") : QStringLiteral("0"),
                 token.looked < 0 ? QString() : csvNumber(token.looked),
                 token.recomputed ? QStringLiteral("1") : QStringLiteral("0"), partName(token)});
  }
  return csv;
}

}  // namespace spanscope::ui
