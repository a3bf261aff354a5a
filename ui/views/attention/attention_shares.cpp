// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/attention_shares.h"

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
                   [](const ShareBar* a, const ShareBar* b) { return a->share > b->share; });
  return result;
}

ShareKind shareKind(trace::PartRole role) {
  if (role == trace::PartRole::Source) return ShareKind::Source;
  return role == trace::PartRole::Own ? ShareKind::Own : ShareKind::Context;
}

/// Sets the shares of the bars. If only sources are shown, they have the shares that all views show. Beside
/// other bars they have shares of plain mass.
void fillShares(ShareModel& model, const AnswerShares& shares, std::optional<std::size_t> token, bool mixed) {
  double whole = 0;
  for (const ShareBar& bar : model.bars) whole += bar.mass;
  for (ShareBar& bar : model.bars) {
    if (mixed) {
      bar.share = whole > 0 ? bar.mass / whole : 0;
    } else {
      bar.share = token ? shares.share(bar.part, *token) : shares.share(bar.part);
    }
  }
}

void markTops(std::vector<ShareBar>& bars) {
  std::vector<ShareBar*> sources;
  for (ShareBar& bar : bars) {
    if (bar.kind == ShareKind::Source && bar.share > 0) sources.push_back(&bar);
  }
  if (sources.size() < 2) return;
  double sum = 0;
  for (const ShareBar* bar : sources) sum += bar->share;
  const double least = kAboveEven * sum / static_cast<double>(sources.size());
  std::stable_sort(sources.begin(), sources.end(),
                   [](const ShareBar* a, const ShareBar* b) { return a->share > b->share; });
  sources.resize(std::min(sources.size(), kMostTops));
  for (ShareBar* bar : sources) bar->isTop = bar->share >= least;
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
  const auto firstOf = [&](std::size_t part) {
    if (!hasFirst) return 0.0;
    return token ? static_cast<double>(shares->tokens[*token].first[part]) : shares->first[part];
  };
  const auto massOf = [&](std::size_t part) {
    const double mass = token ? static_cast<double>(shares->tokens[*token].mass[part]) : shares->mass[part];
    return std::max(0.0, mass - firstOf(part));
  };

  const std::vector<PartName> names = requestParts(input, shares->request).names;
  const std::optional<std::uint32_t> selected = selectedSource(input, *shares);
  double sink = 0;
  for (std::uint32_t part = 0; part < shares->parts.size(); ++part) {
    const trace::PartRole role = shares->parts.role(part);
    sink += firstOf(part);
    if (role == trace::PartRole::Hidden) continue;
    const bool isSource = role == trace::PartRole::Source;
    (isSource ? model.sources : model.rest) += massOf(part);
    if (!isSource && !options.own) continue;
    model.bars.push_back(
        {.kind = shareKind(role),
         .part = part,
         .name = role == trace::PartRole::Own ? tr("%1, reply").arg(names[part].name) : names[part].name,
         .hue = names[part].hue,
         .id = names[part].id,
         .share = 0,
         .mass = massOf(part),
         .selected = selected == part});
  }
  if (hasFirst) model.sink = sink;
  model.beside = token ? static_cast<double>(shares->tokens[*token].beside) : shares->beside;
  if (hasFirst && options.sink)
    model.bars.push_back({.kind = ShareKind::Sink, .name = tr("sinks"), .share = 0, .mass = sink});
  const bool isMixed = options.own || (hasFirst && options.sink);
  fillShares(model, *shares, token, isMixed);
  model.ofSquares = shares->ofSquares && !isMixed;
  markTops(model.bars);
  return model;
}

QString topText(const ShareModel& model) {
  QStringList parts;
  for (const ShareBar* bar : tops(model)) parts << tr("%1 (%2)").arg(bar->name, partText(bar->share));
  return parts.join(tr(", "));
}

QString shareSentence(const ShareModel& model) {
  if (model.isEmpty()) return {};
  const QString text = topText(model);
  if (model.token) {
    return text.isEmpty() ? tr("For “%1” it attended to all sources equally").arg(*model.token)
                          : tr("For “%1” it attended to %2").arg(*model.token, text);
  }
  return text.isEmpty() ? tr("The answer attended to all sources equally")
                        : tr("The answer attended to %1").arg(text);
}

QString shareNote(const ShareModel& model) {
  if (model.isEmpty()) return {};
  QString rest = tr("other text %1").arg(partText(model.rest));
  if (model.beside > 0) rest += tr(", other answers %1").arg(partText(model.beside));
  if (model.sink) rest += tr(", first tokens %1").arg(partText(*model.sink));
  const QString whole = tr("Of all attention: sources %1, %2").arg(partText(model.sources), rest);
  return model.ofSquares ? tr("Strong attention counts most (squares). %1").arg(whole) : whole;
}

QString shareTip(const ShareModel& model, std::size_t bar) {
  if (bar >= model.bars.size()) return {};
  const ShareBar& own = model.bars[bar];
  const QString text =
      (model.ofSquares ? tr("%1: %2 of the sources, strong attention counts most; %3 of all attention")
                       : tr("%1: %2 of what is shown, %3 of all attention"))
          .arg(own.name, partText(own.share), massText(own.mass));
  return own.kind == ShareKind::Sink
             ? text + QLatin1Char('\n') +
                   tr("The first token of each segment: heads attend to it if no other key matches")
             : text;
}

QString shareCsv(const ShareModel& model) {
  QString text;
  const QString query = model.token ? tr("answer token “%1”").arg(*model.token) : tr("answer");
  for (const ShareBar& bar : model.bars) {
    text += csvLine({query, QString(), QString(), bar.name, QString(), QString(), tr("share"),
                     csvNumber(bar.share), QString::number(model.run)});
  }
  if (model.beside > 0)
    text += csvLine({query, QString(), QString(), tr("answers of the same team"), QString(), QString(),
                     tr("of all attention"), csvNumber(model.beside), QString::number(model.run)});
  return text;
}

}  // namespace spanscope::ui
