// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/share_bar.h"

#include "ui/theme/pattern_painting.h"
#include "ui/views/attention/attention_rows.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/common/text_painting.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <QFontMetrics>
#include <QPainter>
#include <QShortcut>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

constexpr std::size_t kMostTops = 3;
/// How far above an even division a document must be to be named.
constexpr double kAboveEven = 1.25;

void markTops(std::vector<SharePiece>& pieces) {
  std::vector<SharePiece*> sources;
  double sum = 0;
  for (SharePiece& piece : pieces) {
    if (piece.kind != ShareKind::Source || piece.share <= 0) continue;
    sources.push_back(&piece);
    sum += piece.share;
  }
  if (sources.size() < 2) return;
  const double least = kAboveEven * sum / static_cast<double>(sources.size());
  std::stable_sort(sources.begin(), sources.end(),
                   [](const SharePiece* a, const SharePiece* b) { return a->share > b->share; });
  sources.resize(std::min(sources.size(), kMostTops));
  for (SharePiece* piece : sources) piece->isTop = piece->share >= least;
}

/// The mass of a row on the tokens of the answer before it. Nothing if the trace has no single keys of the
/// row.
std::optional<double> massOnAnswer(const RecordedRows& rows, const trace::SegmentInfo& own,
                                   std::uint32_t segment, std::int32_t index, std::int32_t blockSize) {
  const auto prompt = static_cast<std::int32_t>(own.tokens.size());
  const std::int32_t row = prompt - 1 + index;
  double sum = 0;
  double count = 0;  // heads of all layers
  for (const RecordedMass& recorded : rows.at({segment, std::max(0, row) / blockSize})) {
    const trace::AttentionMass& mass = *recorded.mass;
    if (mass.row != row || mass.keySpan != 1 || recorded.replayed != nullptr || mass.heads < 1 ||
        mass.keyBlocks.empty())
      continue;
    const std::ptrdiff_t width = std::ssize(mass.mass) / mass.heads;
    const std::ptrdiff_t keys =
        std::clamp<std::ptrdiff_t>(std::ptrdiff_t{mass.keyBlocks.back()} - prompt, 0, width);
    for (std::int32_t head = 1; head <= mass.heads; ++head) {
      const auto end = mass.mass.begin() + head * width;
      sum += std::accumulate(end - keys, end, 0.0);
      ++count;
    }
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

/// The same as a mean over the tokens of `shares`, or for one of them.
std::optional<double> massOnAnswer(const ViewInput& input, const AnswerShares& shares,
                                   std::optional<std::size_t> token) {
  const trace::RequestState& request = input.state().progress().requests.at(shares.request);
  const auto last = static_cast<std::uint32_t>(request.segments.size() - 1);
  const RecordedRows rows(input, shares.request);
  double sum = 0;
  const std::size_t first = token.value_or(0);
  const std::size_t end = token ? *token + 1 : shares.tokens.size();
  for (std::size_t i = first; i < end; ++i) {
    const auto mass = massOnAnswer(rows, request.segments[last], last, shares.tokens[i].index,
                                   std::max(1, input.state().pool().blockSize()));
    if (!mass) return std::nullopt;
    sum += *mass;
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, end - first));
}

ShareKind shareKind(trace::PartRole role) {
  if (role == trace::PartRole::Source) return ShareKind::Source;
  return role == trace::PartRole::Own ? ShareKind::Own : ShareKind::Context;
}

}  // namespace

const SharePiece* ShareModel::of(std::uint32_t part) const {
  const auto found = std::find_if(pieces.begin(), pieces.end(), [part](const SharePiece& piece) {
    return piece.part == part && piece.kind <= ShareKind::Context;
  });
  return found == pieces.end() ? nullptr : &*found;
}

ShareModel shareModel(const ViewInput& input) {
  ShareModel model;
  const std::shared_ptr<const AnswerShares> shares = answerShares(input, input.shownRequest());
  if (shares->isEmpty() || !shares->hasSources()) return model;
  model.request = shares->request;
  model.run = shares->run;
  const std::optional<std::size_t> token = selectedAnswerToken(input, *shares);
  if (token) {
    const auto& event = input.trace->event(shares->tokens[*token].event).payload;
    model.token = shownToken(std::get<trace::TokenGenerated>(event).shown);
  }
  const std::vector<PartName> names = requestParts(input, shares->request).names;
  const std::optional<std::uint32_t> selected = selectedSource(input, *shares);
  const std::optional<double> answer = massOnAnswer(input, *shares, token);
  double sink = 0;
  for (std::uint32_t part = 0; part < shares->parts.size(); ++part) {
    if (shares->parts.role(part) == trace::PartRole::Hidden) continue;
    sink += token ? shares->onFirst(part, *token) : shares->onFirst(part);
    SharePiece piece{.kind = shareKind(shares->parts.role(part)),
                     .part = part,
                     .name = names[part].name,
                     .hue = names[part].hue,
                     .mass = token ? shares->onPart(part, *token) : shares->onPart(part),
                     .share = token ? shares->share(part, *token) : shares->share(part),
                     .selected = selected == part};
    if (piece.kind == ShareKind::Own && !answer) piece.name = tr("%1 and answer").arg(piece.name);
    if (piece.kind == ShareKind::Own && answer) {
      const double own = std::min(*answer, piece.mass);
      piece.mass -= own;
      model.pieces.push_back(
          {.kind = ShareKind::Answer, .part = part, .name = tr("answer"), .hue = piece.hue, .mass = own});
    }
    if (piece.kind == ShareKind::Source) model.sources += piece.mass;
    model.pieces.push_back(std::move(piece));
  }
  const auto add = [&model](ShareKind kind, const QString& name, double mass) {
    if (mass > 0) model.pieces.push_back({.kind = kind, .name = name, .mass = mass});
  };
  add(ShareKind::Sink, tr("first tokens"), sink);
  add(ShareKind::Beside, tr(/*id:answers-of-team*/ "answers of the same group"),
      token ? static_cast<double>(shares->tokens[*token].beside) : shares->beside);
  std::stable_sort(model.pieces.begin(), model.pieces.end(),
                   [](const SharePiece& a, const SharePiece& b) { return a.kind < b.kind; });
  markTops(model.pieces);
  return model;
}

QString shareSentence(const ShareModel& model) {
  if (model.isEmpty()) return {};
  const QString part = partText(model.sources);
  if (model.sources < kEnoughAttention)
    return model.token
               ? tr(/*id:token-hardly-read*/ "For “%1”, documents get only %2 of all attention.")
                     .arg(*model.token, part)
               : tr(/*id:documents-hardly-read*/ "Documents get only %1 of all attention of the answer.")
                     .arg(part);
  std::vector<const SharePiece*> tops;
  for (const SharePiece& piece : model.pieces) {
    if (piece.isTop) tops.push_back(&piece);
  }
  std::stable_sort(tops.begin(), tops.end(),
                   [](const SharePiece* a, const SharePiece* b) { return a->share > b->share; });
  QStringList names;
  for (const SharePiece* piece : tops) names << tr("%1 (%2)").arg(piece->name, partText(piece->share));
  const QString whole =
      model.token
          ? tr(/*id:token-reads*/ "For “%1”, documents get %2 of all attention.").arg(*model.token, part)
          : tr(/*id:documents-read*/ "Documents get %1 of all attention of the answer.").arg(part);
  return whole + QLatin1Char(' ') +
         (names.isEmpty()
              ? tr("No document gets far more attention than the others.")
              : tr(/*id:largest-document-shares*/ "Largest document shares: %1.").arg(names.join(tr(", "))));
}

QString shareTip(const SharePiece& piece) {
  const QString text = tr("%1: %2 of all attention").arg(piece.name, partText(piece.mass));
  if (piece.kind == ShareKind::Source)
    return text + tr(/*id:document-share-tip*/ "\nDocument share: %1. All documents together have 100 %.")
                      .arg(partText(std::max(0.0, piece.share)));
  return piece.kind == ShareKind::Sink
             ? text + QLatin1Char('\n') +
                   tr("The first token of each segment: heads attend to this token if no other key matches")
             : text;
}

QString shareCsv(const ShareModel& model) {
  QString text;
  const QString query = model.token ? tr("answer token “%1”").arg(*model.token) : tr("answer");
  const auto add = [&](const SharePiece& piece, const QString& state, double value) {
    text += csvLine({query, QString(), QString(), piece.name, QString(), QString(), state, csvNumber(value),
                     QString::number(model.run)});
  };
  for (const SharePiece& piece : model.pieces) {
    if (piece.kind == ShareKind::Source) add(piece, tr("share"), piece.share);
  }
  for (const SharePiece& piece : model.pieces) add(piece, tr("of all attention"), piece.mass);
  return text;
}

namespace {

// In pixels.
constexpr int kBar = 22;
constexpr int kAboveBar = 4;
constexpr int kLegendLine = 16;
constexpr int kSwatch = 10;
constexpr int kFrame = 2;  ///< room for the frame of the selected piece

}  // namespace

ShareBar::ShareBar(QWidget* parent) : ItemCanvas(parent) {
  setAccessibleName(tr("Attention of the answer"));
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  const auto choose = [this](const QModelIndex& piece) {
    if (piece.isValid()) Q_EMIT chosen(static_cast<std::size_t>(piece.row()));
  };
  connect(this, &QAbstractItemView::clicked, this, choose);
  connect(this, &QAbstractItemView::activated, this, choose);
  auto* space = new QShortcut(Qt::Key_Space, this, nullptr, nullptr, Qt::WidgetShortcut);
  connect(space, &QShortcut::activated, this, [this, choose] { choose(currentIndex()); });
}

void ShareBar::setContent(const ShareModel& model, const Theme& theme) {
  if (model == m_model && theme == m_theme) return;
  m_model = model;
  m_theme = theme;
  QStringList tips;
  for (const SharePiece& piece : m_model.pieces) tips += shareTip(piece);
  setItems(tips);
  setAccessibleDescription(shareSentence(m_model));
  updateGeometry();
  viewport()->update();
}

void ShareBar::showMotion(std::optional<ShareModel> before, double done) {
  if (!before && !m_before) return;
  m_before = std::move(before);
  m_done = done;
  viewport()->update();
}

double ShareBar::massOf(std::size_t piece) const {
  const double mass = m_model.pieces[piece].mass;
  if (!m_before) return mass;
  const bool isSame =
      m_before->request == m_model.request && m_before->pieces.size() == m_model.pieces.size();
  const double before = isSame ? m_before->pieces[piece].mass : 0;
  return before + (mass - before) * m_done;
}

int ShareBar::sentenceHeight(int width) const {
  constexpr int kTallest = 1000;
  return QFontMetrics(m_theme.titleFont())
      .boundingRect(QRect(0, 0, width, kTallest), Qt::TextWordWrap, shareSentence(m_model))
      .height();
}

QRect ShareBar::pieceRect(std::size_t piece, const QRect& area) const {
  if (piece >= m_model.pieces.size()) return {};
  double before = 0;
  for (std::size_t i = 0; i < piece; ++i) before += massOf(i);
  const double width = area.width() - 2 * kFrame;
  const auto at = [width](double share) {
    return static_cast<int>(std::lround(width * std::min(1.0, share)));
  };
  const int left = at(before);
  return {area.left() + kFrame + left, area.top() + sentenceHeight(area.width()) + kAboveBar,
          at(before + massOf(piece)) - left, kBar};
}

std::vector<ShareBar::Sample> ShareBar::legend() const {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < m_model.pieces.size(); ++i) {
    const SharePiece& piece = m_model.pieces[i];
    const bool isSource = piece.kind == ShareKind::Source;
    if (isSource && i > 0) continue;
    samples.push_back({i, isSource ? tr("documents %1").arg(partText(m_model.sources))
                                   : tr("%1 %2").arg(piece.name, partText(piece.mass))});
  }
  return samples;
}

int ShareBar::flow(QPainter* painter, const QRect& area) const {
  const QFontMetrics metrics(m_theme.smallFont());
  int x = area.left() + kFrame;
  int y = area.top();
  for (const Sample& sample : legend()) {
    const int width = kSwatch + kSpace + metrics.horizontalAdvance(sample.text);
    if (x > area.left() + kFrame && x + width > area.right()) {
      x = area.left() + kFrame;
      y += kLegendLine;
    }
    if (painter != nullptr) {
      fill(*painter, QRect(x, y + (kLegendLine - kSwatch) / 2, kSwatch, kSwatch),
           m_model.pieces[sample.piece]);
      painter->setFont(m_theme.smallFont());
      painter->setPen(m_theme.color(Role::TextSecond));
      const QRect text(x + kSwatch + kSpace, y, area.right() - x - kSwatch - kSpace, kLegendLine);
      painter->drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                        metrics.elidedText(sample.text, Qt::ElideRight, text.width()));
    }
    x += width + 4 * kSpace;
  }
  return y + kLegendLine - area.top();
}

int ShareBar::heightForWidth(int width) const {
  if (m_model.isEmpty()) return 0;
  return sentenceHeight(width) + kAboveBar + kBar + kSpace + flow(nullptr, QRect(0, 0, width, 1));
}

QSize ShareBar::sizeHint() const {
  const int wanted = std::max(width(), 200);
  return {wanted, heightForWidth(wanted)};
}

void ShareBar::fill(QPainter& painter, const QRect& area, const SharePiece& piece) const {
  const QColor ink = m_theme.segmentInk(piece.hue);
  switch (piece.kind) {
    case ShareKind::Source:
    case ShareKind::Own:
    case ShareKind::Context:
      fillWithHue(painter, area, m_theme, piece.isTop ? ink : m_theme.segmentTint(piece.hue), piece.hue);
      // A tint alone is too pale for a piece of a few pixels.
      if (!piece.isTop) painter.fillRect(QRect(area.left(), area.bottom() - 3, area.width(), 4), ink);
      break;
    case ShareKind::Answer:
      // As generated tokens: an outline in place of a fill.
      painter.setPen(ink);
      painter.setBrush(m_theme.color(Role::Surface));
      painter.drawRect(area.adjusted(0, 0, -1, -1));
      break;
    case ShareKind::Sink:
      fillPattern(painter, area, QBrush(m_theme.color(Role::TextThird), Qt::Dense6Pattern));
      break;
    case ShareKind::Beside:
      fillPattern(painter, area, QBrush(m_theme.color(Role::TextThird), Qt::DiagCrossPattern));
      break;
  }
}

void ShareBar::paint(QPainter& painter, const QRect& area) {
  const std::optional<ShareModel> before = std::exchange(m_before, std::nullopt);
  paintNow(painter, area);
  m_before = before;
}

void ShareBar::paintNow(QPainter& painter, const QRect& area) const {
  if (m_model.isEmpty()) return;
  const int sentence = sentenceHeight(area.width());
  painter.setFont(m_theme.titleFont());
  painter.setPen(m_theme.color(Role::Text));
  painter.drawText(QRect(area.left(), area.top(), area.width(), sentence + 2),
                   Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, shareSentence(m_model));
  QFont bold = m_theme.smallFont();
  bold.setWeight(QFont::DemiBold);
  std::vector<NameRoom> names;
  for (std::size_t i = 0; i < m_model.pieces.size(); ++i)
    names.push_back({m_model.pieces[i].name, pieceRect(i, area).width() - 2.0 * kSpace});
  const std::vector<QString> texts = shortNames(names, QFontMetrics(bold));
  painter.setFont(bold);
  for (std::size_t i = 0; i < m_model.pieces.size(); ++i) {
    const SharePiece& piece = m_model.pieces[i];
    const QRect place = pieceRect(i, area);
    if (place.width() <= 0) continue;
    // Pieces of a few pixels have no gap between them.
    fill(painter, place.adjusted(0, 0, place.width() > 4 ? -1 : 0, 0), piece);
    const bool hasPattern = piece.kind == ShareKind::Sink || piece.kind == ShareKind::Beside;
    // The legend names these pieces. A part of the name would only puzzle.
    const bool isNamed = !texts[i].isEmpty() && (!hasPattern || texts[i] == piece.name);
    if (isNamed) {
      const QRect text(place.center().x() - QFontMetrics(bold).horizontalAdvance(texts[i]) / 2 - 3,
                       place.top() + 3, QFontMetrics(bold).horizontalAdvance(texts[i]) + 6, kBar - 6);
      if (hasPattern || piece.hue >= kSegmentHues)
        painter.fillRect(text, piece.isTop ? m_theme.segmentInk(piece.hue) : m_theme.color(Role::Surface));
      painter.setPen(piece.isTop  ? m_theme.color(Role::Surface)
                     : hasPattern ? m_theme.color(Role::TextSecond)
                                  : m_theme.segmentInk(piece.hue));
      painter.drawText(text, Qt::AlignCenter, texts[i]);
    }
    const bool isCurrent = hasFocus() && currentItem() == static_cast<int>(i);
    if (!piece.selected && !isCurrent) continue;
    painter.setPen(QPen(m_theme.color(Role::Accent), piece.selected ? 2 : 1,
                        piece.selected ? Qt::SolidLine : Qt::DotLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(place.adjusted(-1, -1, 1, 1));
  }
  const int top = area.top() + sentence + kAboveBar + kBar + kSpace;
  flow(&painter, QRect(area.left(), top, area.width(), area.bottom() - top));
}

QRect ShareBar::itemRect(int item) const {
  return pieceRect(static_cast<std::size_t>(item), viewport()->rect());
}

void ShareBar::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  paintNow(painter, viewport()->rect());
}

}  // namespace spanscope::ui
