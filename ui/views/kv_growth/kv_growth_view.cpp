// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/kv_growth/kv_growth_view.h"

#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/tokens/token_strip_model.h"
#include "ui/words/tr.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QSlider>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

// In pixels.
constexpr int kTitle = 18;
constexpr int kHues = 4;  ///< height of the line with the sections of the prompt
constexpr int kMostRow = 26;
constexpr int kLeastRow = 14;
constexpr int kMostName = 132;
constexpr int kMostNext = 96;
constexpr double kLeastOutlined = 5;  ///< width of a cell with an outline
constexpr int kMark = 7;              ///< size of the mark of the query vector

QString quoted(const QString& text) {
  return KvGrowthView::tr("“%1”").arg(text);
}

}  // namespace

std::int64_t GrowthModel::comparisons() const {
  const auto count = static_cast<std::int64_t>(passes());
  return count * static_cast<std::int64_t>(prompt) + count * (count + 1) / 2;
}

GrowthModel growthModel(const ViewInput& input) {
  GrowthModel model;
  const auto& requests = input.state().progress().requests;
  const auto request = requests.find(input.shownRequest());
  if (request == requests.end()) return model;
  const TokenStrip strip = tokenStrip(input);
  const std::vector<GeneratedToken> answer = generatedTokens(*input.trace, strip.request, input.position);
  if (strip.tokens.empty() || answer.empty()) return model;
  for (const StripToken& token : strip.tokens) {
    if (token.part == StripPart::Cropped || !token.computed) continue;
    model.keys.push_back(
        {.place = token.place,
         .text = token.text,
         .role = token.role,
         .hue = token.segment < strip.segments.size() ? strip.segments[token.segment].hue : 0});
    if (!token.generated) ++model.prompt;
  }
  if (model.prompt == 0) return model;
  for (const GeneratedToken& token : answer) model.next.push_back(shownToken(token.token->shown));
  // The last token of an answer may be in the strip before a forward pass has computed it.
  model.keys.resize(std::min(model.keys.size(), model.prompt + model.passes()));
  model.next.resize(std::min(model.next.size(), model.keys.size() - model.prompt + 1));
  model.request = strip.request;
  const auto run = input.state().progress().runs.find(request->second.run);
  const std::string policy = run == input.state().progress().runs.end() ? std::string() : run->second.policy;
  model.readsAll = policy.rfind("sparse", 0) != 0 && policy.rfind("views", 0) != 0;
  return model;
}

GrowthStep growthStep(const GrowthModel& model, std::int64_t comparisons) {
  GrowthStep step;
  std::int64_t left = std::clamp<std::int64_t>(comparisons, 0, model.comparisons());
  while (left > 0) {
    ++step.pass;
    const auto own = static_cast<std::int64_t>(model.keysOf(step.pass));
    step.compared = static_cast<std::size_t>(std::min(left, own));
    left -= static_cast<std::int64_t>(step.compared);
  }
  return step;
}

QString growthText(const GrowthModel& model, const GrowthStep& step) {
  if (model.request == 0) return {};
  QString text;
  if (step.pass == 0) {
    text = KvGrowthView::tr("The cache has the keys of all %1 tokens of the prompt. The next token is %2.")
               .arg(model.prompt)
               .arg(quoted(model.next.front()));
  } else {
    const std::size_t own = model.prompt + step.pass - 1;
    const QString token = quoted(model.keys[own].text);
    const std::size_t all = model.keysOf(step.pass);
    if (step.compared < all)
      text = KvGrowthView::tr(
                 "The cache gets the key of %1. The query vector of %1 is compared with key %2 of %3: %4")
                 .arg(token)
                 .arg(step.compared)
                 .arg(all)
                 .arg(quoted(model.keys[std::max<std::size_t>(1, step.compared) - 1].text));
    else
      text = KvGrowthView::tr("The query vector of %1 was compared with all %2 keys. The next token is %3.")
                 .arg(token)
                 .arg(all)
                 .arg(quoted(model.next[step.pass]));
  }
  if (!model.readsAll)
    text += QLatin1Char(' ') +
            KvGrowthView::tr("With this policy, the model reads other keys than this picture shows.");
  return text;
}

KvGrowthView::KvGrowthView(QWidget* parent)
    : RunView(parent),
      MovingView(this),
      m_sentence(new QLabel(this)),
      m_slider(new QSlider(Qt::Horizontal, this)),
      m_drawing(new GrowthDrawing(this)) {
  setAccessibleName(tr("KV growth"));
  setFocusProxy(m_slider);
  m_slider->setAccessibleName(tr("Number of compared keys"));
  m_slider->setToolTip(tr("Move through the forward passes, key by key"));
  m_sentence->setTextFormat(Qt::PlainText);
  m_sentence->setWordWrap(true);
  m_sentence->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  column->setSpacing(kSpace);
  column->addWidget(m_slider);
  column->addWidget(m_sentence);
  column->addWidget(m_drawing, 1);
  for (QWidget* part : std::initializer_list<QWidget*>{m_slider, m_sentence, m_drawing}) part->hide();
  connect(m_slider, &QSlider::valueChanged, this, [this](int comparisons) {
    if (m_isFilling) return;
    m_chosen = comparisons;
    showChosen();
  });
  connect(m_drawing, &GrowthDrawing::keyChosen, this, [this](std::size_t key) {
    if (input() != nullptr && key < m_model.keys.size())
      Q_EMIT selectionWanted(selectionOfToken(*input(), m_model.keys[key].place));
  });
}

QString KvGrowthView::emptyText() const {
  return m_model.request == 0 ? tr("Run a query to see how each token of its answer reads the KV cache.")
                              : QString();
}

void KvGrowthView::refresh() {
  GrowthModel model = growthModel(*input());
  if (model.request != m_model.request) m_chosen.reset();
  m_model = std::move(model);
  for (QWidget* part : std::initializer_list<QWidget*>{m_slider, m_sentence, m_drawing})
    part->setVisible(m_model.request != 0);
  m_sentence->setFont(theme().interfaceFont());
  colorLabel(*m_sentence, theme(), Role::Text);
  showMotion();
  update();
}

void KvGrowthView::stopMotion() {
  showChosen();
}

/// The events in progress have generated a token: its row fills while they last.
void KvGrowthView::showMotion() {
  if (input() == nullptr) return;
  if (m_model.passes() > 0 && moment().isUnderwayAt(input()->position)) {
    for (std::size_t i = moment().first; i < moment().last && i < input()->trace->size(); ++i) {
      const trace::Event& event = input()->trace->event(i);
      if (event.request != m_model.request || !std::holds_alternative<trace::TokenGenerated>(event.payload))
        continue;
      const std::size_t pass = m_model.passes();
      return showStep({.pass = pass,
                       .compared = static_cast<std::size_t>(
                           std::lround(moment().done * static_cast<double>(m_model.keysOf(pass))))});
    }
  }
  showChosen();
}

void KvGrowthView::showChosen() {
  showStep(growthStep(m_model, m_chosen.value_or(m_model.comparisons())));
}

void KvGrowthView::showStep(const GrowthStep& step) {
  if (input() == nullptr) return;
  m_step = step;
  std::int64_t before = 0;
  for (std::size_t pass = 1; pass < step.pass; ++pass)
    before += static_cast<std::int64_t>(m_model.keysOf(pass));
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  m_isFilling = true;
  m_slider->setRange(0, static_cast<int>(std::min(kMost, m_model.comparisons())));
  m_slider->setPageStep(static_cast<int>(std::max<std::size_t>(1, m_model.prompt)));
  m_slider->setValue(static_cast<int>(std::min(kMost, before + static_cast<std::int64_t>(step.compared))));
  m_isFilling = false;
  m_sentence->setText(growthText(m_model, step));
  std::optional<std::size_t> selected;
  if (input()->selection.token) {
    const auto found = std::find_if(m_model.keys.begin(), m_model.keys.end(), [this](const GrowthKey& key) {
      return key.place == *input()->selection.token;
    });
    if (found != m_model.keys.end()) selected = static_cast<std::size_t>(found - m_model.keys.begin());
  }
  m_drawing->setContent(m_model, step, selected, theme());
}

const QWidget& KvGrowthView::placesIn() const {
  return *m_drawing;
}

std::vector<QRect> KvGrowthView::placesOf(const Selection& part) const {
  if (!part.token) return {};
  for (std::size_t i = 0; i < m_model.keys.size(); ++i) {
    if (m_model.keys[i].place != *part.token) continue;
    const QRect place = m_drawing->placeOf(i);
    return place.isEmpty() ? std::vector<QRect>() : std::vector<QRect>{place};
  }
  return {};
}

void KvGrowthView::bringIntoSight(const Selection& /*part*/) {}

QString KvGrowthView::csv() const {
  const GrowthModel model = input() == nullptr ? GrowthModel() : growthModel(*input());
  if (model.request == 0) return {};
  QString csv = csvLine({QStringLiteral("pass"), QStringLiteral("token"), QStringLiteral("keys_read"),
                         QStringLiteral("keys_added"), QStringLiteral("next_token")});
  for (std::size_t pass = 0; pass < model.next.size(); ++pass)
    csv += csvLine({QString::number(pass), pass == 0 ? QString() : model.keys[model.prompt + pass - 1].text,
                    QString::number(model.keysOf(pass)), QString::number(pass == 0 ? model.prompt : 1),
                    model.next[pass]});
  return csv;
}

void KvGrowthView::paintTo(QPainter& painter, const QSize& size) {
  ensureFresh();
  if (paintIfEmpty(painter, size)) return;
  const QRect area(QPoint(), size);
  painter.fillRect(area, theme().color(Role::Surface));
  QRect inner = area.adjusted(2 * kSpace, kSpace, -2 * kSpace, -kSpace);
  paintTextAtTop(painter, inner, growthText(m_model, m_step), theme(), Role::Text);
  m_drawing->paint(painter, inner);
}

GrowthDrawing::GrowthDrawing(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Stored keys, by forward pass"));
}

void GrowthDrawing::setContent(const GrowthModel& model, const GrowthStep& step,
                               std::optional<std::size_t> selected, const Theme& theme) {
  if (model == m_model && step == m_step && selected == m_selected && theme == m_blocks.theme()) return;
  m_model = model;
  m_step = step;
  m_selected = selected;
  m_blocks.setTheme(theme);
  setAccessibleDescription(growthText(model, step));
  update();
}

GrowthDrawing::Layout GrowthDrawing::layOut(const QRect& area) const {
  Layout layout;
  const int name = std::min(kMostName, area.width() / 4);
  const int next = std::min(kMostNext, area.width() / 5);
  layout.cells =
      QRectF(area.left() + name, area.top() + kTitle + kHues + 2, std::max(1, area.width() - name - next),
             std::max(0, area.height() - kTitle - kHues - 2));
  layout.cell =
      layout.cells.width() / static_cast<double>(std::max<std::size_t>(1, m_model.prompt + m_model.passes()));
  const int height = static_cast<int>(layout.cells.height());
  layout.row = std::clamp(height / std::max(1, static_cast<int>(m_model.passes()) + 1), kLeastRow, kMostRow);
  const auto fitting = static_cast<std::size_t>(std::max(0, height / layout.row - 1));
  layout.rows = std::min(fitting, m_step.pass);
  layout.firstRow = m_step.pass - layout.rows + 1;
  return layout;
}

void GrowthDrawing::paintKeys(QPainter& painter, const Layout& layout, double y, std::size_t begin,
                              std::size_t end) const {
  const double height = layout.row - 3.0;
  std::size_t at = begin;
  while (at < end) {
    std::size_t stop = at + 1;
    while (stop < end && m_model.keys[stop].role == m_model.keys[at].role) ++stop;
    const QRectF place(layout.cells.left() + static_cast<double>(at) * layout.cell, y,
                       static_cast<double>(stop - at) * layout.cell, height);
    m_blocks.fill(painter, place, m_model.keys[at].role, layout.cells.topLeft());
    painter.setPen(QPen(m_blocks.theme().ink(m_model.keys[at].role), 1));
    painter.drawLine(place.bottomLeft(), place.bottomRight());
    if (layout.cell >= kLeastOutlined) {
      for (std::size_t key = at; key <= stop; ++key) {
        const double x = layout.cells.left() + static_cast<double>(key) * layout.cell;
        painter.drawLine(QPointF(x, y), QPointF(x, y + height));
      }
    }
    at = stop;
  }
}

void GrowthDrawing::paint(QPainter& painter, const QRect& area) const {
  if (m_model.request == 0) return;
  painter.save();
  const Theme& theme = m_blocks.theme();
  const Layout layout = layOut(area);
  const QFontMetrics metrics(theme.smallFont());
  const auto write = [&](const QRectF& place, const QString& text, Qt::Alignment side, Role ink) {
    painter.setPen(theme.color(ink));
    painter.drawText(place, int(side | Qt::AlignVCenter),
                     metrics.elidedText(text, Qt::ElideRight, static_cast<int>(place.width())));
  };
  painter.setFont(theme.smallFont());
  const double names = layout.cells.left() - area.left();
  const auto xOf = [&layout](std::size_t key) {
    return layout.cells.left() + static_cast<double>(key) * layout.cell;
  };
  write(QRectF(area.left(), area.top(), names - 2 * kSpace, kTitle), tr("query vector of"), Qt::AlignRight,
        Role::TextThird);
  const QString whole =
      tr("stored keys: %1 of the prompt, %2 of the answer").arg(m_model.prompt).arg(m_step.pass);
  const bool fits = metrics.horizontalAdvance(whole) <= layout.cells.width();
  write(QRectF(layout.cells.left(), area.top(), layout.cells.width(), kTitle),
        fits ? whole : tr("stored keys: %1 + %2").arg(m_model.prompt).arg(m_step.pass), Qt::AlignLeft,
        Role::TextSecond);
  write(QRectF(layout.cells.right() + 2 * kSpace, area.top(),
               area.right() - layout.cells.right() - 2 * kSpace, kTitle),
        tr("next token"), Qt::AlignLeft, Role::TextThird);
  // The sections of the prompt, in the hues of all views.
  for (std::size_t at = 0; at < m_model.prompt;) {
    std::size_t stop = at + 1;
    while (stop < m_model.prompt && m_model.keys[stop].hue == m_model.keys[at].hue) ++stop;
    fillWithHue(painter, QRectF(xOf(at), area.top() + kTitle, xOf(stop) - xOf(at) - 1, kHues), theme,
                theme.segmentInk(m_model.keys[at].hue), m_model.keys[at].hue);
    at = stop;
  }
  const auto row = [&](double y, const QString& name, std::size_t keys, std::size_t compared,
                       const QString& next, bool isCurrent) {
    write(QRectF(area.left(), y, names - 2 * kSpace, layout.row - 3), name, Qt::AlignRight,
          isCurrent ? Role::Text : Role::TextSecond);
    const QRectF stored(layout.cells.left(), y, xOf(keys) - layout.cells.left(), layout.row - 3);
    painter.fillRect(stored, theme.color(Role::Canvas));
    painter.setPen(QPen(theme.color(Role::Outline), 1));
    painter.drawRect(stored.adjusted(0, 0, -1, -1));
    paintKeys(painter, layout, y, 0, compared);
    if (compared == keys)
      write(
          QRectF(stored.right() + 2 * kSpace, y, area.right() - stored.right() - 2 * kSpace, layout.row - 3),
          tr("→ %1").arg(next), Qt::AlignLeft, isCurrent ? Role::Text : Role::TextSecond);
  };
  double y = layout.cells.top();
  row(y, tr("prompt"), m_model.prompt, m_model.prompt, m_model.next.front(), m_step.pass == 0);
  for (std::size_t pass = layout.firstRow; pass <= m_step.pass; ++pass) {
    y += layout.row;
    const bool isCurrent = pass == m_step.pass;
    const std::size_t keys = m_model.keysOf(pass);
    row(y, m_model.keys[keys - 1].text, keys, isCurrent ? m_step.compared : keys, m_model.next[pass],
        isCurrent);
    // The key of this token is new.
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.color(Role::Accent), isCurrent ? 2 : 1));
    painter.drawRect(QRectF(xOf(keys - 1), y, layout.cell, layout.row - 3));
    if (isCurrent && m_step.compared > 0 && m_step.compared < keys) {
      const double x = xOf(m_step.compared) - layout.cell / 2;
      painter.setRenderHint(QPainter::Antialiasing);
      painter.setPen(QPen(theme.color(Role::Surface), 1));
      painter.setBrush(theme.color(Role::Accent));
      const double middle = y + (layout.row - 3) / 2.0;
      painter.drawEllipse(QPointF(x, middle), kMark * 0.7, kMark * 0.7);
      painter.setRenderHint(QPainter::Antialiasing, false);
    }
  }
  if (m_selected && *m_selected < m_model.prompt + m_step.pass) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.color(Role::Accent), 2));
    painter.drawRect(QRectF(xOf(*m_selected), layout.cells.top(), std::max(2.0, layout.cell),
                            y + layout.row - 3 - layout.cells.top()));
  }
  painter.restore();
}

QRect GrowthDrawing::placeOf(std::size_t key) const {
  const Layout layout = layOut(rect());
  std::size_t row = 0;
  if (key >= m_model.prompt) {
    const std::size_t pass = key - m_model.prompt + 1;
    if (pass < layout.firstRow || pass > m_step.pass) return {};
    row = pass - layout.firstRow + 1;
  }
  return QRectF(layout.cells.left() + static_cast<double>(key) * layout.cell,
                layout.cells.top() + static_cast<double>(row) * layout.row, std::max(2.0, layout.cell),
                layout.row - 3)
      .toAlignedRect();
}

std::optional<std::size_t> GrowthDrawing::keyAt(const QPoint& point) const {
  const Layout layout = layOut(rect());
  if (m_model.request == 0 || point.y() < layout.cells.top() || point.x() < layout.cells.left())
    return std::nullopt;
  const auto key = static_cast<std::size_t>((point.x() - layout.cells.left()) / layout.cell);
  return key < m_model.prompt + m_step.pass ? std::optional(key) : std::nullopt;
}

void GrowthDrawing::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  paint(painter, rect());
}

void GrowthDrawing::mousePressEvent(QMouseEvent* event) {
  if (const std::optional<std::size_t> key = keyAt(event->position().toPoint())) Q_EMIT keyChosen(*key);
}

bool GrowthDrawing::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto& help = static_cast<const QHelpEvent&>(*event);
  if (const std::optional<std::size_t> key = keyAt(help.pos()))
    QToolTip::showText(help.globalPos(),
                       tr("Key %1: %2 (%3)")
                           .arg(*key + 1)
                           .arg(quoted(m_model.keys[*key].text), Theme::name(m_model.keys[*key].role)),
                       this);
  else
    QToolTip::hideText();
  return true;
}

ViewInfo kvGrowthRow() {
  return {.id = QStringLiteral("kv-growth"),
          .title = tr("KV growth"),
          .help = tr("How each token of the answer reads the stored keys, and adds its own key"),
          .make = makeViewOf<KvGrowthView>,
          .needs = {Fact::Prompts, Fact::TokenTexts}};
}

}  // namespace spanscope::ui
