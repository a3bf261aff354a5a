// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/attention/share_bars.h"

#include "ui/theme/pattern_painting.h"
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
#include <cstdlib>
#include <memory>
#include <utility>
#include <variant>

namespace spanscope::ui {

namespace {

constexpr int kSentence = 18;
constexpr int kNote = 15;
constexpr int kValues = 15;
constexpr int kBars = 30;
constexpr int kLabels = 15;
constexpr int kFrame = 3;           ///< room below the labels for the frame of the selected bar
constexpr int kUprightLabels = 64;  ///< greatest height of upright labels
constexpr int kWidestBar = 88;
constexpr int kSeparator = 12;  ///< room before bars that are no sources

QFont boldSmall(const Theme& theme) {
  QFont font = theme.smallFont();
  font.setWeight(QFont::DemiBold);
  return font;
}

/// The part of ShareBars::barRect() that the highest bar fills.
QRect roomOf(const QRect& whole) {
  return {whole.left() + 1, whole.top() + kValues, std::max(2, whole.width() - 3), kBars};
}

}  // namespace

ShareBars::ShareBars(QWidget* parent) : ItemCanvas(parent) {
  setAccessibleName(tr("Attention of the answer"));
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  const auto choose = [this](const QModelIndex& bar) {
    if (bar.isValid()) Q_EMIT chosen(static_cast<std::size_t>(bar.row()));
  };
  connect(this, &QAbstractItemView::clicked, this, choose);
  connect(this, &QAbstractItemView::activated, this, choose);
  auto* space = new QShortcut(Qt::Key_Space, this, nullptr, nullptr, Qt::WidgetShortcut);
  connect(space, &QShortcut::activated, this, [this, choose] { choose(currentIndex()); });
}

void ShareBars::setContent(const ShareModel& model, const Theme& theme) {
  if (model == m_model && theme == m_theme) return;
  m_model = model;
  m_theme = theme;
  QStringList tips;
  for (std::size_t bar = 0; bar < m_model.bars.size(); ++bar) tips += shareTip(m_model, bar);
  setItems(tips);
  const QString sentence = shareSentence(m_model);
  const QString note = shareNote(m_model);
  // The sum is computed once, because every bar needs it.
  m_headWidth = QFontMetrics(m_theme.titleFont()).horizontalAdvance(sentence) + 4 * kSpace +
                QFontMetrics(m_theme.smallFont()).horizontalAdvance(note);
  setAccessibleDescription(sentence + QStringLiteral(". ") + note);
  viewport()->setToolTip(m_model.isEmpty() ? QString() : sentence + QStringLiteral(".\n") + note);
  updateGeometry();
  viewport()->update();
}

void ShareBars::showMotion(std::optional<ShareModel> before, double done) {
  if (!before && !m_before) return;
  m_before = std::move(before);
  m_done = done;
  viewport()->update();
}

double ShareBars::shareOf(std::size_t bar) const {
  const double share = m_model.bars[bar].share;
  if (!m_before) return share;
  const bool isSame = m_before->request == m_model.request && m_before->bars.size() == m_model.bars.size();
  const double before = isSame ? m_before->bars[bar].share : 0;
  return before + (share - before) * m_done;
}

QRect ShareBars::barRect(std::size_t bar, const QRect& area) const {
  const auto count = static_cast<int>(m_model.bars.size());
  if (count == 0) return {};
  const auto others =
      static_cast<int>(std::count_if(m_model.bars.begin(), m_model.bars.end(),
                                     [](const ShareBar& other) { return other.kind == ShareKind::Sink; }));
  const bool separated = others > 0 && count > 1;
  const int room = area.width() - (separated ? kSeparator : 0);
  const double pitch = std::min<double>(kWidestBar, static_cast<double>(room) / count);
  const int shift = separated && static_cast<int>(bar) + 1 == count ? kSeparator : 0;
  const int left = static_cast<int>(std::lround(pitch * static_cast<double>(bar))) + shift;
  const int right = static_cast<int>(std::lround(pitch * static_cast<double>(bar + 1))) + shift;
  const int head = headHeight(area.width());
  return {area.left() + left, area.top() + head, right - left, area.height() - head};
}

bool ShareBars::noteStandsBeside(int width) const {
  return m_headWidth <= width;
}

int ShareBars::headHeight(int width) const {
  return kSentence + (noteStandsBeside(width) ? 0 : kNote);
}

/// An upright name needs the height of a line. If bars are narrower, the largest and the selected bars get
/// their names first. Other bars get names only where there is space.
void ShareBars::keepApart(std::vector<QString>& texts, int width) const {
  constexpr int kLine = 12;  // pixels
  const auto centerOf = [&](std::size_t i) { return barRect(i, {0, 0, width, 100}).center().x(); };
  std::vector<int> taken;
  std::vector<bool> isNamed(texts.size(), false);
  const auto take = [&](std::size_t i) {
    const int center = centerOf(i);
    isNamed[i] = std::none_of(taken.begin(), taken.end(),
                              [center](int other) { return std::abs(other - center) < kLine; });
    if (isNamed[i]) taken.push_back(center);
  };
  for (const bool isFirst : {true, false}) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const ShareBar& bar = m_model.bars[i];
      if ((bar.isTop || bar.selected) == isFirst) take(i);
    }
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!isNamed[i]) texts[i].clear();
  }
}

ShareBars::Labels ShareBars::labelsFor(int width) const {
  Labels result;
  const QFontMetrics metrics(boldSmall(m_theme));
  std::vector<NameRoom> names;
  for (std::size_t i = 0; i < m_model.bars.size(); ++i)
    names.push_back({m_model.bars[i].name, barRect(i, {0, 0, width, 100}).width() - 2.0});
  result.texts = shortNames(names, metrics);
  result.height = kLabels;
  if (std::none_of(result.texts.begin(), result.texts.end(),
                   [](const QString& text) { return text.isEmpty(); }))
    return result;
  result.upright = true;
  int widest = 0;
  for (NameRoom& name : names) name.room = kUprightLabels;
  result.texts = shortNames(names, metrics);
  for (const QString& text : result.texts) widest = std::max(widest, metrics.horizontalAdvance(text));
  result.height = widest + 4;
  // The height must not depend on which names fit. Otherwise the height would jump when the width changes.
  keepApart(result.texts, width);
  return result;
}

std::vector<QString> ShareBars::labels(int width) const {
  return labelsFor(width).texts;
}

int ShareBars::heightForWidth(int width) const {
  return headHeight(width) + kValues + kBars + labelsFor(width).height + kFrame;
}

QSize ShareBars::sizeHint() const {
  const int wanted = std::max(width(), 200);
  return {wanted, heightForWidth(wanted)};
}

QRect ShareBars::filledRect(std::size_t index, const QRect& area) const {
  double most = 0;
  for (const ShareBar& other : m_model.bars) most = std::max(most, other.share);
  if (m_before) {
    for (const ShareBar& other : m_before->bars) most = std::max(most, other.share);
  }
  const QRect room = roomOf(barRect(index, area));
  const double share = shareOf(index);
  // A value that is not zero must be visible.
  const int height =
      share <= 0 || most <= 0 ? 0 : std::max(1, static_cast<int>(std::lround(kBars * share / most)));
  return {room.left(), room.bottom() + 1 - height, room.width(), height};
}

void ShareBars::paintBar(QPainter& painter, const QRect& area, const Labels& labels,
                         std::size_t index) const {
  const ShareBar& bar = m_model.bars[index];
  const QRect whole = barRect(index, area);
  const QRect room = roomOf(whole);
  const bool source = bar.kind == ShareKind::Source;
  const QColor ink = source ? m_theme.segmentInk(bar.hue) : m_theme.color(Role::TextSecond);
  const QRect filled = filledRect(index, area);
  const int height = filled.height();
  painter.fillRect(QRect(room.left(), room.bottom() + 1, room.width(), 1), m_theme.color(Role::Outline));
  if (bar.isTop && source) {
    fillWithHue(painter, filled, m_theme, ink, bar.hue);
  } else if (bar.isTop) {
    painter.fillRect(filled, ink);
  } else if (source) {
    fillWithHue(painter, filled, m_theme, m_theme.segmentTint(bar.hue), bar.hue);
    if (height > 1) {
      painter.setPen(ink);
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(filled.adjusted(0, 0, -1, -1));
    } else {
      painter.fillRect(filled, ink);
    }
  } else {
    fillPattern(painter, filled, QBrush(ink, Qt::Dense5Pattern));
  }

  const QRect label(whole.left(), room.bottom() + 2, whole.width() - 1, labels.height);
  painter.setFont(boldSmall(m_theme));
  painter.setPen(ink);
  if (labels.upright) {
    painter.save();
    painter.translate(label.center().x() + 1, label.bottom());
    painter.rotate(-90);
    painter.drawText(QRect(0, -8, labels.height, 16), Qt::AlignRight | Qt::AlignVCenter, labels.texts[index]);
    painter.restore();
  } else {
    painter.drawText(label, Qt::AlignCenter, labels.texts[index]);
  }
  const bool keys = hasFocus() && currentItem() == static_cast<int>(index);
  if (bar.selected || keys) {
    painter.setPen(QPen(m_theme.color(Role::Accent), bar.selected ? 2 : 1,
                        keys && !bar.selected ? Qt::DotLine : Qt::SolidLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(whole.adjusted(0, 1, -2, -1));
  }
}

QFont ShareBars::valueFont(const ShareBar& bar) const {
  QFont font = m_theme.smallFont();
  font.setWeight(bar.isTop ? QFont::DemiBold : QFont::Normal);
  return font;
}

std::vector<ShareBars::Value> ShareBars::values(const QRect& area) const {
  // The largest bars come first. A value that would run into theirs is only in the tool tip.
  std::vector<std::size_t> order(m_model.bars.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return m_model.bars[a].share > m_model.bars[b].share;
  });
  std::vector<QRect> filled;
  for (std::size_t i = 0; i < order.size(); ++i) filled.push_back(filledRect(i, area));
  // Highlighted bars have their values. Either all other bars have values, or none.
  const QFontMetrics plain(m_theme.smallFont());
  const bool all = std::all_of(order.begin(), order.end(), [&](std::size_t index) {
    return plain.horizontalAdvance(partText(m_model.bars[index].share)) + 4 < barRect(index, area).width();
  });
  std::vector<Value> values;
  for (const std::size_t index : order) {
    const ShareBar& bar = m_model.bars[index];
    if (!bar.isTop && bar.kind == ShareKind::Source && !all) continue;
    const QString text = partText(bar.share);
    const int width = QFontMetrics(valueFont(bar)).horizontalAdvance(text) + 4;
    const QRect whole = barRect(index, area);
    const int left =
        std::clamp(whole.center().x() - width / 2, area.left(), std::max(area.left(), area.right() - width));
    QRect place(left, filled[index].top() - kValues, width, kValues);
    // A value that meets a higher bar moves beside that bar, if it is then still above its own bar.
    for (const QRect& other : filled) {
      if (!other.intersects(place)) continue;
      if (other.left() > whole.left()) {
        place.moveRight(other.left() - 1);
      } else {
        place.moveLeft(other.right() + 1);
      }
    }
    const auto meets = [&](const QRect& other) { return other.intersects(place); };
    if (!area.contains(place) || place.right() < whole.left() || place.left() > whole.right() ||
        std::any_of(filled.begin(), filled.end(), meets) ||
        std::any_of(values.begin(), values.end(), [&](const Value& other) { return meets(other.place); }))
      continue;
    values.push_back({.bar = index, .text = text, .place = place});
  }
  return values;
}

void ShareBars::paint(QPainter& painter, const QRect& area) {
  const std::optional<ShareModel> before = std::exchange(m_before, std::nullopt);
  paintNow(painter, area);
  m_before = before;
}

void ShareBars::paintNow(QPainter& painter, const QRect& area) const {
  if (m_model.isEmpty()) return;
  const QFont font = m_theme.titleFont();
  const QFontMetrics metrics(font);
  const QString sentence = shareSentence(m_model);
  const QRect line(area.left(), area.top(), area.width(), kSentence);
  painter.setFont(font);
  painter.setPen(m_theme.color(Role::Text));
  painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                   metrics.elidedText(sentence, Qt::ElideRight, area.width()));
  const QString note = shareNote(m_model);
  painter.setFont(m_theme.smallFont());
  painter.setPen(m_theme.color(Role::TextThird));
  if (noteStandsBeside(area.width())) {
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, note);
  } else {
    painter.drawText(QRect(line.left(), line.bottom() + 1, line.width(), kNote),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetrics(m_theme.smallFont()).elidedText(note, Qt::ElideRight, line.width()));
  }
  const Labels labels = labelsFor(area.width());
  for (std::size_t bar = 0; bar < m_model.bars.size(); ++bar) paintBar(painter, area, labels, bar);
  for (const Value& value : values(area)) {
    const ShareBar& bar = m_model.bars[value.bar];
    painter.setFont(valueFont(bar));
    painter.setPen(m_theme.color(bar.isTop ? Role::Text : Role::TextSecond));
    painter.drawText(value.place, Qt::AlignCenter, value.text);
  }
}

QRect ShareBars::itemRect(int item) const {
  return barRect(static_cast<std::size_t>(item), viewport()->rect());
}

void ShareBars::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  paintNow(painter, viewport()->rect());
}

namespace {

constexpr std::size_t kMostTops = 3;
/// How far above an even division a bar must be to be highlighted.
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

/// Sets the shares of the bars. If only sources are shown, they have the same shares as in all views. If
/// other bars are shown too, all bars have shares of plain mass.
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
         .name = role == trace::PartRole::Own ? tr("%1, answer").arg(names[part].name) : names[part].name,
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
    return text.isEmpty() ? tr("For “%1” the answer attended to all sources equally").arg(*model.token)
                          : tr("For “%1” the answer attended to %2").arg(*model.token, text);
  }
  return text.isEmpty() ? tr("The answer attended to all sources equally")
                        : tr(/*id:answer-attended-to*/ "The answer attended to %1").arg(text);
}

QString shareNote(const ShareModel& model) {
  if (model.isEmpty()) return {};
  QString rest = tr("other text %1").arg(partText(model.rest));
  if (model.beside > 0) rest += tr(", other answers %1").arg(partText(model.beside));
  if (model.sink) rest += tr(", first tokens %1").arg(partText(*model.sink));
  const QString whole = tr("Of all attention: sources %1, %2").arg(partText(model.sources), rest);
  return model.ofSquares
             ? tr(/*id:shares-are-squared*/ "Shares are squared, so strong attention counts most. %1")
                   .arg(whole)
             : whole;
}

QString shareTip(const ShareModel& model, std::size_t bar) {
  if (bar >= model.bars.size()) return {};
  const ShareBar& own = model.bars[bar];
  const QString text =
      (model.ofSquares ? tr("%1: %2 of the sources (strong attention counts most), %3 of all attention")
                       : tr("%1: %2 of the shown bars, %3 of all attention"))
          .arg(own.name, partText(own.share), massText(own.mass));
  return own.kind == ShareKind::Sink
             ? text + QLatin1Char('\n') +
                   tr("The first token of each segment: heads attend to this token if no other key matches")
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
    text += csvLine({query, QString(), QString(), tr(/*id:answers-of-team*/ "answers of the same group"),
                     QString(), QString(), tr("of all attention"), csvNumber(model.beside),
                     QString::number(model.run)});
  return text;
}

}  // namespace spanscope::ui
