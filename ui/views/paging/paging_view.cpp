// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/paging/paging_view.h"

#include "engine/query/node_parts.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QFontMetrics>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QSlider>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <variant>

namespace spanscope::ui {
namespace {

/// Max tokens of an answer if neither the query nor the settings have a limit.
constexpr std::int64_t kMaxTokens = 256;
constexpr std::int64_t kMostRequests = 500;
constexpr std::int64_t kMostTokens = 1'000'000;
constexpr int kRowHeight = 13;        // pixels
constexpr double kLeastOutlined = 4;  // pixels
constexpr int kTitle = 18;
constexpr int kLegend = 20;

std::int64_t limitOf(const ViewInput& input, const trace::RequestState& request) {
  const document::DocumentNode* node = input.document->find(input.nodeOf(request.run, request.node));
  const query::GenerateSettings* settings = node == nullptr ? nullptr : query::settingsOf(node->own);
  const auto* own = settings == nullptr ? nullptr : std::get_if<std::int32_t>(&settings->maxTokens);
  if (own != nullptr && *own > 0) return *own;
  const std::int64_t common = input.document->settings.maxTokens;
  return common > 0 ? common : kMaxTokens;
}

QString percent(double share) {
  return PagingView::tr("%1 %").arg(100 * share, 0, 'f', share > 0 && share < 0.1 ? 1 : 0);
}

QString sentenceOf(const PagingModel& model) {
  const auto of = [&model](std::int64_t each, const char* text) {
    return PagingView::tr(text)
        .arg(model.running(each))
        .arg(model.requests)
        .arg(each)
        .arg(percent(model.empty(each)));
  };
  return of(model.buffer(),
            QT_TRANSLATE_NOOP("spanscope::ui::PagingView",
                              "With one buffer of %3 tokens per request, %1 of %2 requests run. %4 of the "
                              "memory of these requests is empty.")) +
         QLatin1Char(' ') +
         of(model.blocks(), QT_TRANSLATE_NOOP("spanscope::ui::PagingView",
                                              "With blocks, each request takes %3 tokens so far. %1 of %2 "
                                              "requests run. %4 of the memory of these requests is empty."));
}

QString freeText(const PagingModel& model, std::int64_t each) {
  return PagingView::tr("free: %1 of %2 tokens")
      .arg(model.slots - model.running(each) * each)
      .arg(model.slots);
}

}  // namespace

std::int64_t PagingModel::blocks() const {
  return blockSize == 0 ? 0 : (used + blockSize - 1) / blockSize * blockSize;
}

std::int64_t PagingModel::running(std::int64_t each) const {
  return std::min(requests, fitting(each));
}

double PagingModel::empty(std::int64_t each) const {
  return each == 0 ? 0 : 1 - static_cast<double>(used) / static_cast<double>(each);
}

PagingModel pagingModel(const ViewInput& input, const PagingOptions& options) {
  PagingModel model;
  const trace::PoolReplay& pool = input.state().pool();
  const auto& requests = input.state().progress().requests;
  const auto request = requests.find(input.shownRequest());
  if (request == requests.end() || request->second.promptTokens == 0 || pool.blockCount() < 2) return model;
  model.blockSize = pool.blockSize();
  model.slots = static_cast<std::int64_t>(pool.blockCount() - 1) * model.blockSize;
  model.prompt = request->second.promptTokens;
  // No forward pass has computed the last token of an answer.
  model.used = model.prompt + std::max<std::int64_t>(0, request->second.generatedTokens - 1);
  model.maxTokens = std::clamp<std::int64_t>(options.maxTokens.value_or(limitOf(input, request->second)),
                                             model.used - model.prompt + 1, kMostTokens);
  model.mostChosen = std::clamp<std::int64_t>(model.fitting(model.blocks()) + 2, 4, kMostRequests);
  model.requests = std::clamp<std::int64_t>(options.requests.value_or(model.fitting(model.buffer()) / 2), 1,
                                            model.mostChosen);
  return model;
}

std::vector<SlotRange> bufferRanges(const PagingModel& model) {
  std::vector<SlotRange> ranges;
  for (std::int64_t i = 0; i < model.running(model.buffer()); ++i)
    ranges.push_back({.begin = i * model.buffer(),
                      .end = (i + 1) * model.buffer(),
                      .used = model.used,
                      .request = static_cast<std::size_t>(i)});
  return ranges;
}

std::vector<SlotRange> blockRanges(const PagingModel& model) {
  std::vector<SlotRange> ranges;
  if (model.blockSize == 0) return ranges;
  const std::int64_t running = model.running(model.blocks());
  const std::int64_t promptBlocks = (model.prompt + model.blockSize - 1) / model.blockSize;
  const std::int64_t allBlocks = model.blocks() / model.blockSize;
  const auto add = [&](std::int64_t request, std::int64_t block) {
    const auto begin = static_cast<std::int64_t>(ranges.size()) * model.blockSize;
    ranges.push_back({.begin = begin,
                      .end = begin + model.blockSize,
                      .used = std::min<std::int64_t>(model.blockSize, model.used - block * model.blockSize),
                      .request = static_cast<std::size_t>(request)});
  };
  for (std::int64_t request = 0; request < running; ++request) {
    for (std::int64_t block = 0; block < promptBlocks; ++block) add(request, block);
  }
  for (std::int64_t block = promptBlocks; block < allBlocks; ++block) {
    for (std::int64_t request = 0; request < running; ++request) add(request, block);
  }
  return ranges;
}

PagingView::PagingView(QWidget* parent)
    : RunView(parent),
      m_controls(new QWidget(this)),
      m_count(new QLabel(m_controls)),
      m_requests(new QSlider(Qt::Horizontal, m_controls)),
      m_longest(new QLabel(tr("Max tokens:"), m_controls)),
      m_maxTokens(new QSpinBox(m_controls)),
      m_sentence(new QLabel(this)),
      m_drawing(new PagingDrawing(this)) {
  setAccessibleName(tr("Paging"));
  setFocusProxy(m_requests);
  m_requests->setAccessibleName(tr("Number of requests"));
  m_requests->setToolTip(tr("Choose the number of requests like this one"));
  m_count->setBuddy(m_requests);
  m_maxTokens->setAccessibleName(tr("Max tokens of an answer"));
  m_maxTokens->setToolTip(
      tr("Set the max length of an answer. Each buffer must have space for an answer of this length"));
  m_maxTokens->setKeyboardTracking(false);
  m_longest->setBuddy(m_maxTokens);
  m_sentence->setTextFormat(Qt::PlainText);
  m_sentence->setWordWrap(true);
  m_sentence->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  auto* row = new QHBoxLayout(m_controls);
  row->setContentsMargins({});
  row->addWidget(m_count);
  row->addWidget(m_requests, 1);
  row->addWidget(m_longest);
  row->addWidget(m_maxTokens);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  column->setSpacing(kSpace);
  column->addWidget(m_controls);
  column->addWidget(m_sentence);
  column->addWidget(m_drawing, 1);
  connect(m_requests, &QSlider::valueChanged, this, [this](int requests) {
    if (m_isFilling) return;
    m_options.requests = requests;
    refresh();
  });
  connect(m_maxTokens, &QSpinBox::valueChanged, this, [this](int tokens) {
    if (m_isFilling) return;
    m_options.maxTokens = tokens;
    refresh();
  });
  for (QWidget* part : findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) part->hide();
}

QString PagingView::emptyText() const {
  return m_model.blockSize == 0
             ? tr("Run a query to see how many requests like this query fit into the pool.")
             : QString();
}

void PagingView::refresh() {
  m_model = pagingModel(*input(), m_options);
  for (QWidget* part : std::initializer_list<QWidget*>{m_controls, m_sentence, m_drawing})
    part->setVisible(m_model.blockSize != 0);
  m_isFilling = true;
  m_requests->setRange(1, static_cast<int>(std::max<std::int64_t>(1, m_model.mostChosen)));
  m_requests->setValue(static_cast<int>(m_model.requests));
  m_maxTokens->setRange(static_cast<int>(m_model.used - m_model.prompt + 1), int(kMostTokens));
  m_maxTokens->setValue(static_cast<int>(m_model.maxTokens));
  m_isFilling = false;
  m_count->setText(tr("Requests: %1").arg(m_model.requests));
  for (QLabel* label : {m_count, m_longest, m_sentence}) {
    label->setFont(theme().smallFont());
    colorLabel(*label, theme(), label == m_sentence ? Role::TextSecond : Role::Text);
  }
  m_sentence->setText(sentenceOf(m_model));
  m_drawing->setContent(m_model, theme());
  update();
}

QString PagingView::csv() const {
  const PagingModel model = input() == nullptr ? PagingModel() : pagingModel(*input(), m_options);
  if (model.blockSize == 0) return {};
  QString csv =
      csvLine({QStringLiteral("way"), QStringLiteral("slots_each"), QStringLiteral("fitting"),
               QStringLiteral("running"), QStringLiteral("waiting"), QStringLiteral("empty_share")});
  for (const bool hasBlocks : {false, true}) {
    const std::int64_t each = hasBlocks ? model.blocks() : model.buffer();
    csv += csvLine({hasBlocks ? QStringLiteral("blocks") : QStringLiteral("buffers"), QString::number(each),
                    QString::number(model.fitting(each)), QString::number(model.running(each)),
                    QString::number(model.requests - model.running(each)), csvNumber(model.empty(each))});
  }
  return csv;
}

void PagingView::paintTo(QPainter& painter, const QSize& size) {
  ensureFresh();
  if (paintIfEmpty(painter, size)) return;
  const QRect area(QPoint(), size);
  painter.fillRect(area, theme().color(Role::Surface));
  QRect inner = area.adjusted(2 * kSpace, kSpace, -2 * kSpace, -kSpace);
  paintTextAtTop(painter, inner, sentenceOf(m_model), theme(), Role::TextSecond);
  m_drawing->paint(painter, inner);
}

PagingDrawing::PagingDrawing(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Memory of the pool"));
}

void PagingDrawing::setContent(const PagingModel& model, const Theme& theme) {
  if (model == m_model && theme == m_theme) return;
  m_model = model;
  m_theme = theme;
  setAccessibleDescription(model.blockSize == 0 ? QString() : sentenceOf(model));
  update();
}

void PagingDrawing::paintRange(QPainter& painter, const QRect& area, std::int64_t begin, std::int64_t end,
                               const QBrush& brush, bool hasOutline) const {
  const std::int64_t rows = std::max(1, area.height() / kRowHeight);
  const std::int64_t slotsPerRow = (m_model.slots + rows - 1) / rows;
  const double scale = static_cast<double>(area.width()) / static_cast<double>(slotsPerRow);
  while (begin < end) {
    const std::int64_t row = begin / slotsPerRow;
    const std::int64_t stop = std::min(end, (row + 1) * slotsPerRow);
    const QRectF cell(area.left() + static_cast<double>(begin - row * slotsPerRow) * scale,
                      area.top() + static_cast<double>(row) * kRowHeight,
                      static_cast<double>(stop - begin) * scale, kRowHeight - 3);
    // The outline of a narrow block would hide the block.
    if (!hasOutline)
      painter.fillRect(cell, brush);
    else if (cell.width() >= kLeastOutlined)
      painter.drawRect(cell);
    begin = stop;
  }
}

void PagingDrawing::paintMemory(QPainter& painter, const QRect& area, const QString& title,
                                const std::vector<SlotRange>& ranges) const {
  painter.setFont(m_theme.titleFont());
  painter.setPen(m_theme.color(Role::Text));
  painter.drawText(QRect(area.left(), area.top(), area.width(), kTitle), Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetrics(m_theme.titleFont()).elidedText(title, Qt::ElideRight, area.width()));
  const QRect memory = area.adjusted(0, kTitle, 0, 0);
  paintRange(painter, memory, 0, m_model.slots, m_theme.color(Role::Canvas), false);
  const QBrush reserved(m_theme.color(Role::TextThird), Qt::BDiagPattern);
  for (const SlotRange& range : ranges) {
    paintRange(painter, memory, range.begin, range.begin + range.used, m_theme.segmentInk(range.request),
               false);
    paintRange(painter, memory, range.begin, range.begin + range.used, m_theme.segmentPattern(range.request),
               false);
    paintRange(painter, memory, range.begin + range.used, range.end, reserved, false);
  }
  painter.setPen(QPen(m_theme.color(Role::Surface), 1));
  for (const SlotRange& range : ranges) paintRange(painter, memory, range.begin, range.end, {}, true);
  painter.setPen(QPen(m_theme.color(Role::Line), 1));
  paintRange(painter, memory, 0, m_model.slots, {}, true);
}

void PagingDrawing::paint(QPainter& painter, const QRect& area) const {
  if (m_model.blockSize == 0) return;
  painter.save();
  const int height = (area.height() - kLegend - 2 * kSpace) / 2;
  paintMemory(painter, QRect(area.left(), area.top(), area.width(), height),
              tr("One buffer per request · %1").arg(freeText(m_model, m_model.buffer())),
              bufferRanges(m_model));
  paintMemory(painter, QRect(area.left(), area.top() + height + 2 * kSpace, area.width(), height),
              tr("Blocks of %1 tokens · %2").arg(m_model.blockSize).arg(freeText(m_model, m_model.blocks())),
              blockRanges(m_model));
  const int y = area.bottom() - kLegend + kSpace;
  int x = area.left();
  painter.setFont(m_theme.smallFont());
  const QFontMetrics metrics(m_theme.smallFont());
  const auto sample = [&](const QString& text, const QBrush& brush) {
    painter.fillRect(QRect(x, y + 3, 14, 9), brush);
    painter.setPen(m_theme.color(Role::Line));
    painter.drawRect(QRect(x, y + 3, 14, 9));
    painter.setPen(m_theme.color(Role::TextSecond));
    const int width = metrics.horizontalAdvance(text);
    painter.drawText(QRect(x + 20, y, width + 2, 16), Qt::AlignLeft | Qt::AlignVCenter, text);
    x += 20 + width + 4 * kSpace;
  };
  sample(tr("tokens, a color or pattern per request"), m_theme.segmentInk(0));
  sample(tr("empty"), QBrush(m_theme.color(Role::TextThird), Qt::BDiagPattern));
  sample(tr("free"), m_theme.color(Role::Canvas));
  painter.restore();
}

void PagingDrawing::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  paint(painter, rect());
}

ViewInfo pagingRow() {
  return {.id = QStringLiteral("paging"),
          .title = tr("Paging"),
          .help = tr("How many requests like this one fit into the pool, with buffers and with blocks"),
          .make = makeViewOf<PagingView>,
          .needs = {Fact::Pool}};
}

}  // namespace spanscope::ui
