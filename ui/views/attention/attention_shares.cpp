// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_shares.h"

#include "ui/views/common/csv_line.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

constexpr std::size_t kMostTops = 3;
/// How far above an even division a bar must be to stand out.
constexpr double kAboveEven = 1.25;

std::vector<const ShareBar*> tops(const ShareModel& model) {
  std::vector<const ShareBar*> result;
  for (const ShareBar& bar : model.bars) {
    if (bar.isTop) result.push_back(&bar);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const ShareBar* a, const ShareBar* b) { return a->part > b->part; });
  return result;
}

ShareKind shareKind(SourceKind kind) {
  if (kind == SourceKind::Source) return ShareKind::Source;
  return kind == SourceKind::Own ? ShareKind::Own : ShareKind::Context;
}

/// Sets the parts of the bars. If only sources are shown, they have the shares that all views show. Beside
/// other bars they have parts of plain mass.
void fillParts(ShareModel& model, const AnswerShares& shares, std::optional<std::size_t> token, bool mixed) {
  double whole = 0;
  for (const ShareBar& bar : model.bars) whole += bar.mass;
  for (ShareBar& bar : model.bars) {
    if (mixed) {
      bar.part = whole > 0 ? bar.mass / whole : 0;
    } else {
      const auto shareOf = [&](std::uint32_t segment) {
        return token ? shares.share(segment, *token) : shares.share(segment);
      };
      bar.part = shareOf(bar.segment) + (bar.linked ? shareOf(*bar.linked) : 0.0);
    }
  }
}

void markTops(std::vector<ShareBar>& bars) {
  std::vector<ShareBar*> sources;
  for (ShareBar& bar : bars) {
    if (bar.kind == ShareKind::Source && bar.part > 0) sources.push_back(&bar);
  }
  if (sources.size() < 2) return;
  double sum = 0;
  for (const ShareBar* bar : sources) sum += bar->part;
  const double least = kAboveEven * sum / static_cast<double>(sources.size());
  std::stable_sort(sources.begin(), sources.end(),
                   [](const ShareBar* a, const ShareBar* b) { return a->part > b->part; });
  sources.resize(std::min(sources.size(), kMostTops));
  for (ShareBar* bar : sources) bar->isTop = bar->part >= least;
}

}  // namespace

ShareModel shareModel(const ViewInput& input, const ShareOptions& options) {
  ShareModel model;
  const std::shared_ptr<const AnswerShares> shares = answerShares(input, input.shownRequest());
  if (shares->isEmpty() || !shares->hasSources()) return model;
  model.request = shares->request;
  model.run = shares->run;
  model.tokens = shares->tokens.size();
  const std::optional<std::size_t> token = selectedAnswerToken(input, *shares);
  if (token) {
    const auto& event = input.trace->event(shares->tokens[*token].event).payload;
    model.token = shownToken(std::get<trace::TokenGenerated>(event).shown);
  }
  const bool hasFirst = token ? !shares->tokens[*token].first.empty() : !shares->first.empty();
  const auto firstOf = [&](std::size_t segment) {
    if (!hasFirst) return 0.0;
    return token ? static_cast<double>(shares->tokens[*token].first[segment]) : shares->first[segment];
  };
  const auto massOf = [&](std::size_t segment) {
    const double mass =
        token ? static_cast<double>(shares->tokens[*token].mass[segment]) : shares->mass[segment];
    return std::max(0.0, mass - firstOf(segment));
  };

  const trace::RequestState& request = input.state().progress().requests.at(shares->request);
  const std::vector<SegmentName> names = segmentNames(input, shares->run, request.segments);
  const std::optional<std::uint32_t> selected = selectedSource(input, *shares);
  double sink = 0;
  std::optional<std::uint32_t> linked;  // the linked beginning of the next segment
  for (std::size_t s = 0; s < shares->kinds.size(); ++s) {
    const SourceKind kind = shares->kinds[s];
    sink += firstOf(s);
    if (kind == SourceKind::Hidden) continue;
    const bool isSource = kind == SourceKind::Source;
    (isSource ? model.sources : model.rest) += massOf(s);
    if (!isSource && !options.own) continue;
    if (isSource && names[s].linked && shares->kinds[s + 1] == SourceKind::Source) {
      linked = static_cast<std::uint32_t>(s);
      continue;
    }
    const std::optional<std::uint32_t> own = std::exchange(linked, std::nullopt);
    model.bars.push_back(
        {.kind = shareKind(kind),
         .segment = static_cast<std::uint32_t>(s),
         .linked = own,
         .name = kind == SourceKind::Own ? tr("%1, reply").arg(names[s].name) : names[s].name,
         .hue = names[s].hue,
         .id = input.nodeOf(shares->run, request.segments[s].node),
         .part = 0,
         .mass = massOf(s) + (own ? massOf(*own) : 0.0),
         .selected = selected && (selected == static_cast<std::uint32_t>(s) || selected == own)});
  }
  if (hasFirst) model.sink = sink;
  model.beside = token ? static_cast<double>(shares->tokens[*token].beside) : shares->beside;
  if (hasFirst && options.sink)
    model.bars.push_back({.kind = ShareKind::Sink, .name = tr("sinks"), .part = 0, .mass = sink});
  const bool isMixed = options.own || (hasFirst && options.sink);
  fillParts(model, *shares, token, isMixed);
  model.ofSquares = shares->ofSquares && !isMixed;
  markTops(model.bars);
  return model;
}

QString topText(const ShareModel& model) {
  QStringList parts;
  for (const ShareBar* bar : tops(model)) parts << tr("%1 (%2)").arg(bar->name, partText(bar->part));
  return parts.join(tr(", "));
}

QString shareSentence(const ShareModel& model) {
  if (model.isEmpty()) return {};
  const QString text = topText(model);
  if (model.token) {
    return text.isEmpty() ? tr("For “%1” it looked at all sources alike").arg(*model.token)
                          : tr("For “%1” it looked at %2").arg(*model.token, text);
  }
  return text.isEmpty() ? tr("The answer looked at all sources alike")
                        : tr("The answer looked at %1").arg(text);
}

QString shareNote(const ShareModel& model) {
  if (model.isEmpty()) return {};
  QString rest = tr("other text %1").arg(partText(model.rest));
  if (model.beside > 0) rest += tr(", replies beside it %1").arg(partText(model.beside));
  if (model.sink) rest += tr(", first tokens %1").arg(partText(*model.sink));
  const QString whole = tr("Of all attention: sources %1, %2").arg(partText(model.sources), rest);
  return model.ofSquares ? tr("Strong looks count most (squares). %1").arg(whole) : whole;
}

QString shareTip(const ShareModel& model, std::size_t bar) {
  if (bar >= model.bars.size()) return {};
  const ShareBar& own = model.bars[bar];
  const QString text =
      (model.ofSquares ? tr("%1: %2 of the sources, strong looks counting most; %3 of all attention")
                       : tr("%1: %2 of what is shown, %3 of all attention"))
          .arg(own.name, partText(own.part), massText(own.mass));
  return own.kind == ShareKind::Sink
             ? text + QLatin1Char('\n') +
                   tr("The first token of each segment: models look there when they look for nothing")
             : text;
}

QString shareCsv(const ShareModel& model) {
  QString text;
  const QString query = model.token ? tr("answer token “%1”").arg(*model.token) : tr("answer");
  for (const ShareBar& bar : model.bars) {
    text += csvLine({query, QString(), QString(), bar.name, QString(), QString(), tr("share"),
                     csvNumber(bar.part), QString::number(model.run)});
  }
  if (model.beside > 0)
    text += csvLine({query, QString(), QString(), tr("replies written beside it"), QString(), QString(),
                     tr("of all attention"), csvNumber(model.beside), QString::number(model.run)});
  return text;
}

}  // namespace spanscope::ui
