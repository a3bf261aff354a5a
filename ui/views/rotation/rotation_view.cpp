// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/rotation/rotation_view.h"

#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPolygonF>
#include <QPushButton>
#include <QSlider>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <variant>

namespace spanscope::ui {

namespace {

constexpr int kTurnRow = 22;

void fillNumbers(QComboBox& box, const QString& each, std::int32_t count, std::int32_t chosen) {
  if (box.count() != count) {
    box.clear();
    for (std::int32_t i = 0; i < count; ++i) box.addItem(each.arg(i));
  }
  box.setCurrentIndex(chosen);
}

}  // namespace

RotationView::RotationView(QWidget* parent)
    : RunView(parent, InputPart::Replay, Pace::EveryInput),
      MovingView(this),
      m_pair(new QLabel(this)),
      m_status(new QLabel(this)),
      m_compute(new QPushButton(tr("Compute rotation"), this)),
      m_keep(new QPushButton(tr("Use query vector"), this)),
      m_drawing(new RotationDrawing(this)),
      m_move(new QWidget(this)),
      m_moveText(new QLabel(m_move)),
      m_start(new QSlider(Qt::Horizontal, m_move)),
      m_sentence(new QLabel(this)),
      m_table(new TableView(tr("Pairs of elements"), RowOrder::Sortable, this)),
      m_rows(new PaintedTableModel(this)) {
  setAccessibleName(tr("Rotation"));
  setFocusProxy(m_table);
  for (QLabel* label : {m_pair, m_status, m_sentence}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  }
  m_pair->setAccessibleName(tr("The pair of tokens"));
  m_sentence->setAccessibleName(tr("Result"));
  m_compute->setToolTip(
      tr("Recompute the prompt without changing the cache, to get the query vector and the key of these "
         "tokens"));
  m_keep->setToolTip(tr("Use the query vector of the selected token. The next selected token gives the key"));
  m_table->setToolTip(
      tr("List each pair of elements: radians per position, rotations of stored key and query vector, and "
         "part of the score"));
  m_table->setMinimumHeight(2 * kTurnRow);
  m_table->setModel(m_rows);
  m_table->setRowHeight(kTurnRow);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);

  m_start->setAccessibleName(tr("Start position of the document in the last drawing"));
  m_start->setToolTip(
      tr("Move the document to another start position. The angle between query vector and key stays the "
         "same"));
  m_moveText->setBuddy(m_start);
  auto* move = new QHBoxLayout(m_move);
  move->setContentsMargins({});
  move->addWidget(m_moveText);
  move->addWidget(m_start, 1);

  auto* buttons = new QHBoxLayout;
  buttons->addWidget(m_compute);
  buttons->addWidget(m_keep);
  buttons->addWidget(m_status, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  column->setSpacing(kSpace);
  column->addWidget(m_pair);
  column->addLayout(buttons);
  column->addWidget(m_move);
  column->addWidget(m_drawing, 6);
  column->addWidget(m_sentence);
  column->addWidget(m_table, 1);
  column->addStretch(0);

  QHBoxLayout* row = titleRow();
  m_layer = new QComboBox(row->parentWidget());
  m_layer->setAccessibleName(tr("Layer"));
  m_head = new QComboBox(row->parentWidget());
  m_head->setAccessibleName(tr("Head"));
  for (const QPointer<QComboBox>& box : {m_layer, m_head}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    row->addWidget(box);
    connect(box, &QComboBox::currentIndexChanged, this, [this] {
      if (!m_isFilling && m_layer && m_head) choose(m_layer->currentIndex(), m_head->currentIndex());
    });
  }
  connect(m_compute, &QPushButton::clicked, this, [this] {
    Q_EMIT commandWanted(m_model.isRunning ? QStringLiteral("run.stop") : QStringLiteral("run.rotation"));
  });
  connect(m_keep, &QPushButton::clicked, this, &RotationView::takeQuery);
  connect(m_start, &QSlider::valueChanged, this, [this](int start) {
    if (!m_isFilling) moveSegment(start);
  });
  connect(m_table, &TableView::rowSelected, this, [this](int pair) {
    m_options.pair = static_cast<std::size_t>(pair);
    refresh();
  });
  for (QWidget* part : findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) part->hide();
}

bool RotationView::canCompute() const {
  return m_model.choice.request != 0 && !m_model.isAhead && m_model.reason.isEmpty() && !m_model.isRunning &&
         !m_model.isComputed;
}

bool RotationView::canPerform(const QString& /*command*/) const {
  return isVisible() && canCompute();
}

void RotationView::perform(const QString& /*command*/) {
  Q_EMIT jobWanted(jobs::callOf<jobs::PairVectorsJob>(m_model.choice));
}

void RotationView::choose(std::int32_t layer, std::int32_t head) {
  m_options.layer = layer;
  m_options.head = head;
  m_options.pair.reset();
  if (input() != nullptr) refresh();
}

void RotationView::moveSegment(std::int64_t start) {
  m_options.start = start;
  if (input() != nullptr) refresh();
}

void RotationView::takeQuery() {
  if (input() == nullptr || !input()->selection.token) return;
  m_options.query = *input()->selection.token;
  refresh();
}

QString RotationView::emptyText() const {
  if (m_model.choice.request != 0) return {};
  if (input() != nullptr && !input()->state().progress().runs.empty())
    return tr(
        "There is no prompt at this moment of the run. Move forward to see a pair of its tokens and their "
        "rotation.");
  return tr(
      "Run a query to see how query vector and stored key are rotated. Query vector and key are drawn as "
      "arrows, with the same score at two start positions.");
}

QString RotationView::pairText() const {
  return tr("%1, at position %2, attends to %3, token %4 of a segment at start position %5.")
      .arg(m_model.queryName)
      .arg(m_model.queryPosition)
      .arg(m_model.keyName)
      .arg(m_model.keyLocal)
      .arg(m_model.base);
}

QString RotationView::statusText() const {
  if (m_model.isRunning) return tr("Recomputing the prompt…");
  if (m_model.isAhead) return {};
  if (m_model.isComputed) return tr("Layer %1, head %2.").arg(m_model.layer).arg(m_model.head);
  if (!m_model.problem.isEmpty()) return m_model.problem;
  return m_model.reason.isEmpty() ? tr("Query vector and key are not computed yet.") : m_model.reason;
}

bool RotationView::isOf(const trace::TokenPlace& place, const Selection& part) const {
  const RequestId request = m_model.choice.request;
  if (request == 0 || input() == nullptr) return false;
  if (part.token) {
    return part.token->request == request && part.token->segment == place.segment &&
           part.token->local == place.local;
  }
  const std::int32_t size = std::max(1, input()->state().pool().blockSize());
  return part.block && part.block->request == request && part.block->segment == place.segment &&
         part.block->virtualIndex == place.local / size;
}

std::vector<QRect> RotationView::placesOf(const Selection& part) const {
  std::vector<QRect> places;
  const bool isKey = isOf(m_model.choice.key, part);
  const bool isQuery = isOf(m_model.choice.query, part);
  if (!isKey && !isQuery) return places;
  if (!isRotationDrawn(m_model)) return {m_pair->geometry()};
  for (const RotationDrawing::Arrow arrow : {RotationDrawing::Arrow::Key, RotationDrawing::Arrow::Query}) {
    if (arrow == RotationDrawing::Arrow::Key ? !isKey : !isQuery) continue;
    for (const QRect& tip : m_drawing->tips(arrow)) places.push_back(tip.translated(m_drawing->pos()));
  }
  return places;
}

void RotationView::refresh() {
  const jobs::PairChoice before = m_model.choice;
  m_model = rotationModel(*input(), m_options);
  const bool isSameSegment =
      before.request == m_model.choice.request && before.key.segment == m_model.choice.key.segment;
  if (m_options.start && !isSameSegment) {
    m_options.start.reset();
    m_model = rotationModel(*input(), m_options);
  }
  showControls();
  m_drawing->setContent(m_model, theme());
  showMotion();
  m_table->setTheme(theme());
  m_rows->setTable(table());
  if (m_model.isComputed) m_table->showRow(static_cast<int>(m_model.pair));
  update();
  if (canCompute() != m_couldCompute) {
    m_couldCompute = canCompute();
    Q_EMIT commandsChanged();
  }
  const QString summary =
      isRotationDrawn(m_model) ? tr("score %1").arg(m_model.places.front().score, 0, 'f', 3) : QString();
  if (summary == m_lastSummary) return;
  m_lastSummary = summary;
  Q_EMIT summaryChanged(summary);
}

void RotationView::stopMotion() {
  m_drawing->setTurned(1);
}

void RotationView::showMotion() {
  const auto computesQuery = [this](const trace::Event& event) {
    const auto* batch = std::get_if<trace::BatchComputed>(&event.payload);
    if (batch == nullptr) return false;
    const trace::TokenPlace& query = m_model.choice.query;
    return std::any_of(batch->entries.begin(), batch->entries.end(), [&](const trace::BatchEntry& entry) {
      return entry.request == m_model.choice.request && entry.segment == query.segment &&
             entry.begin <= query.local && query.local < entry.begin + entry.count;
    });
  };
  bool isTurning = false;
  if (input() != nullptr && m_model.isComputed && moment().isUnderwayAt(input()->position)) {
    for (std::size_t i = moment().first; i < moment().last && !isTurning; ++i)
      isTurning = computesQuery(input()->trace->event(i));
  }
  if (!isTurning) return stopMotion();
  m_drawing->setTurned(eased(moment().done));
}

void RotationView::showControls() {
  const bool hasPair = m_model.choice.request != 0;
  for (QWidget* part : std::initializer_list<QWidget*>{m_pair, m_status, m_keep}) part->setVisible(hasPair);
  const bool hadFocus = m_compute->hasFocus();
  const bool isDrawn = isRotationDrawn(m_model);
  for (QWidget* part : std::initializer_list<QWidget*>{m_drawing, m_move, m_table}) part->setVisible(isDrawn);
  m_sentence->setVisible(hasPair);
  // Qt would give the focus of a hidden button to the next widget.
  if (hadFocus && isDrawn) m_table->setFocus();
  m_compute->setVisible(hasPair && !m_model.isComputed && !m_model.isAhead);
  for (QLabel* label : {m_pair, m_status, m_moveText, m_sentence}) label->setFont(theme().smallFont());
  colorLabel(*m_pair, theme(), Role::Text);
  colorLabel(*m_status, theme(), m_model.problem.isEmpty() ? Role::TextSecond : Role::Error);
  colorLabel(*m_sentence, theme(), Role::TextSecond);
  colorLabel(*m_moveText, theme(), Role::Text);
  m_pair->setText(hasPair ? pairText() : QString());
  m_status->setText(statusText());
  m_sentence->setText(rotationSentence(m_model));
  m_compute->setText(m_model.isRunning ? tr("Stop") : tr("Compute rotation"));
  m_compute->setEnabled(m_model.isRunning || canCompute());
  m_keep->setEnabled(input()->selection.token.has_value());
  m_isFilling = true;
  m_moveText->setText(tr("Move the document to start position %1:").arg(m_model.start));
  m_start->setRange(0, static_cast<int>(m_model.lastStart));
  m_start->setValue(static_cast<int>(m_model.start));
  m_isFilling = false;
  if (!m_layer || !m_head) return;
  m_isFilling = true;
  fillNumbers(*m_layer, tr("layer %1"), m_model.layers, m_model.layer);
  fillNumbers(*m_head, tr("head %1"), m_model.heads, m_model.head);
  m_layer->setVisible(isDrawn);
  m_head->setVisible(isDrawn);
  m_isFilling = false;
}

PaintedTable RotationView::table() const {
  PaintedTable table{
      .headers = {tr("Pair"), tr("Frequency"), tr("Key rotation"), tr("Query rotation"), tr("Score")},
      .shares = {1, 2, 2, 2, 2},
      .rows = {}};
  if (!m_model.isComputed) return table;
  const RotationWay& stored = m_model.places.front();
  const auto cell = [](const QString& text, double value) {
    return PaintedCell{.text = text, .mono = true, .isRight = true, .raw = value};
  };
  const auto degrees = [&cell](const run::RotatedPair& pair, std::int64_t positions) {
    const double turned = degreesOf(pair.frequency, positions);
    return cell(tr("%1°").arg(turned, 0, 'f', 1), turned);
  };
  for (std::size_t i = 0; i < m_model.pairs.size(); ++i) {
    const run::RotatedPair& pair = m_model.pairs[i];
    table.rows.push_back({cell(QString::number(i), static_cast<double>(i)),
                          cell(QString::number(pair.frequency, 'g', 4), pair.frequency),
                          degrees(pair, stored.keyRotation), degrees(pair, stored.queryRotation),
                          cell(QString::number(pair.score, 'f', 4), pair.score)});
  }
  return table;
}

QString RotationView::csv() const {
  return input() == nullptr ? QString() : rotationCsv(rotationModel(*input(), m_options));
}

void RotationView::paintTo(QPainter& painter, const QSize& size) {
  ensureFresh();
  if (paintIfEmpty(painter, size)) return;
  const QRect area(QPoint(), size);
  painter.fillRect(area, theme().color(Role::Surface));
  QRect inner = area.adjusted(2 * kSpace, kSpace, -2 * kSpace, -kSpace);
  const auto write = [&](const QString& text, Role ink) {
    paintTextAtTop(painter, inner, text, theme(), ink);
  };
  write(pairText(), Role::Text);
  write(statusText(), m_model.problem.isEmpty() ? Role::TextSecond : Role::Error);
  write(rotationSentence(m_model), Role::TextSecond);
  if (!isRotationDrawn(m_model)) return;
  const int drawing = std::max(150, inner.height() * 3 / 5);
  m_drawing->paint(painter, QRect(inner.left(), inner.top(), inner.width(), drawing));
  painter.save();
  painter.translate(inner.left(), inner.top() + drawing + kSpace);
  paintTable(painter, QRect(0, 0, inner.width(), std::max(0, inner.height() - drawing - kSpace)),
             m_rows->table(), theme());
  painter.restore();
}

ViewInfo turnRow() {
  return {
      .id = QStringLiteral("rotation"),
      .title = tr("Rotation"),
      .help = tr(
          "How attention works with a key that was stored at another position: the query vector is rotated"),
      .make = makeViewOf<RotationView>,
      .needs = {Fact::Prompts, Fact::TokenTexts},
      .commands = {QStringLiteral("run.rotation")}};
}

namespace {

constexpr int kTitle = 18;
constexpr int kLegend = 22;      ///< height of a row
constexpr int kSample = 20;      // length of an arrow in the legend
constexpr int kLegendText = 28;  // distance of the text from the start of its arrow
constexpr int kLinesBelow = 3;   ///< of text, below a circle
constexpr int kTip = 18;         // pixels

double lengthOf(const run::PlanePoint& point) {
  return std::hypot(point.x, point.y);
}

/// Number of rows of a legend.
double rowsOf(const std::vector<QRectF>& places) {
  return std::round((places.back().bottom() - places.front().top()) / kLegend);
}

/// A point on its way around the middle, counterclockwise, by less than a full circle.
run::PlanePoint onTheTurn(const run::PlanePoint& from, const run::PlanePoint& to, double share) {
  const double begin = std::atan2(from.y, from.x);
  double way = std::atan2(to.y, to.x) - begin;
  way -= 2 * std::numbers::pi * std::floor(way / (2 * std::numbers::pi));
  const double length = lengthOf(from);
  return {.x = length * std::cos(begin + share * way), .y = length * std::sin(begin + share * way)};
}

}  // namespace

RotationDrawing::RotationDrawing(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Drawing of the rotation"));
}

void RotationDrawing::setContent(const RotationModel& model, const Theme& theme) {
  m_model = model;
  m_theme = theme;
  setAccessibleDescription(rotationSentence(model));
  update();
}

void RotationDrawing::setTurned(double share) {
  if (share == m_turned) return;
  m_turned = share;
  update();
}

void RotationDrawing::paintArrow(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& ink,
                                 Head head, bool isRotated) const {
  QPen pen(ink, isRotated ? 2.5 : 1.2);
  if (!isRotated) pen.setStyle(Qt::DashLine);
  painter.setPen(pen);
  painter.drawLine(from, to);
  const QPointF along = to - from;
  const double length = std::hypot(along.x(), along.y());
  if (length < 1) return;
  const QPointF unit = along / length;
  const QPointF across(-unit.y(), unit.x());
  painter.setPen(QPen(ink, 1.2));
  painter.setBrush(isRotated ? QBrush(ink) : QBrush(m_theme.color(Role::Surface)));
  if (head == Head::Triangle) {
    painter.drawPolygon(QPolygonF({to, to - 9 * unit + 4.5 * across, to - 9 * unit - 4.5 * across}));
  } else {
    painter.drawRect(QRectF(to - QPointF(3.5, 3.5), QSizeF(7, 7)));
  }
  painter.setBrush(Qt::NoBrush);
}

void RotationDrawing::paintPlace(QPainter& painter, const QRectF& area, const RotationWay& place,
                                 double longest, bool isStored, double turned) const {
  const QFontMetrics metrics(m_theme.smallFont());
  painter.setFont(m_theme.smallFont());
  painter.setPen(m_theme.color(Role::TextSecond));
  const QStringList below{
      tr("key by %1: %2°")
          .arg(place.keyRotation)
          .arg(degreesOf(place.shown.frequency, place.keyRotation), 0, 'f', 1),
      tr("query by %1: %2°")
          .arg(place.queryRotation)
          .arg(degreesOf(place.shown.frequency, place.queryRotation), 0, 'f', 1),
      tr("pair %1 · all %2").arg(place.shown.score, 0, 'f', 3).arg(place.score, 0, 'f', 3)};
  const int line = metrics.height() + 1;
  double y = area.bottom() - line * kLinesBelow;
  for (const QString& text : below) {
    painter.drawText(QRectF(area.left(), y, area.width(), line), Qt::AlignHCenter | Qt::AlignVCenter,
                     metrics.elidedText(text, Qt::ElideRight, int(area.width())));
    y += line;
  }
  const auto [middle, radius, room] = circleIn(area);
  // The angle from the rotated key to the rotated query.
  const auto angleOf = [](const run::PlanePoint& point) {
    return std::atan2(point.y, point.x) * 180 / std::numbers::pi;
  };
  double between = angleOf(place.shown.rotatedQuery) - angleOf(place.shown.rotatedKey);
  between -= 360 * std::round(between / 360);
  // In a small circle, the angle would hide the arrows.
  constexpr double kLeastRadius = 45;
  const bool isSmall = radius < kLeastRadius;
  const QString text = tr("%1°").arg(std::abs(between), 0, 'f', 1);
  painter.setFont(m_theme.titleFont());
  painter.setPen(m_theme.color(Role::Text));
  painter.drawText(QRectF(area.left(), area.top(), area.width(), kTitle), Qt::AlignHCenter | Qt::AlignVCenter,
                   QFontMetrics(m_theme.titleFont())
                       .elidedText(isSmall ? tr("%1: %2").arg(place.title, text) : place.title,
                                   Qt::ElideRight, int(area.width())));
  painter.setFont(m_theme.smallFont());
  painter.setPen(QPen(m_theme.color(Role::Grid), 1));
  painter.drawEllipse(middle, radius, radius);
  painter.drawLine(middle - QPointF(radius, 0), middle + QPointF(radius, 0));
  painter.drawLine(middle - QPointF(0, radius), middle + QPointF(0, radius));
  // y grows upwards in the plane, so angles grow counterclockwise.
  const auto at = [&](const run::PlanePoint& point) {
    return middle + QPointF(point.x, -point.y) * (radius / std::max(1e-12, longest));
  };
  const QColor keyInk = m_theme.segmentInk(m_model.keyHue);
  const QColor queryInk = m_theme.color(Role::Accent);
  paintArrow(painter, middle, at(place.shown.key), keyInk, Head::Square, false);
  paintArrow(painter, middle, at(place.shown.query), queryInk, Head::Triangle, false);
  if (turned < 1) {
    // A stored key is already rotated, so it does not move.
    const run::PlanePoint key =
        isStored ? place.shown.rotatedKey : onTheTurn(place.shown.key, place.shown.rotatedKey, turned);
    paintArrow(painter, middle, at(key), keyInk, Head::Square, true);
    paintArrow(painter, middle, at(onTheTurn(place.shown.query, place.shown.rotatedQuery, turned)), queryInk,
               Head::Triangle, true);
    return;
  }
  const double arc = radius * 0.35;
  painter.setPen(QPen(m_theme.color(Role::TextSecond), 1.5));
  painter.drawArc(QRectF(middle.x() - arc, middle.y() - arc, 2 * arc, 2 * arc),
                  static_cast<int>(16 * angleOf(place.shown.rotatedKey)), static_cast<int>(16 * between));
  paintArrow(painter, middle, at(place.shown.rotatedKey), keyInk, Head::Square, true);
  paintArrow(painter, middle, at(place.shown.rotatedQuery), queryInk, Head::Triangle, true);
  if (isSmall) return;
  const double half = (angleOf(place.shown.rotatedKey) + between / 2) * std::numbers::pi / 180;
  const QPointF label = middle + QPointF(std::cos(half), -std::sin(half)) * (arc + 16);
  const double width = metrics.horizontalAdvance(text) + 4;
  const QRectF box(label.x() - width / 2, label.y() - line / 2.0, width, line);
  QColor behind = m_theme.color(Role::Surface);
  behind.setAlphaF(0.8F);
  painter.fillRect(box, behind);
  painter.setPen(m_theme.color(Role::Text));
  painter.drawText(box, Qt::AlignCenter, text);
}

RotationDrawing::Circle RotationDrawing::circleIn(const QRectF& area) const {
  const int line = QFontMetrics(m_theme.smallFont()).height() + 1;
  const double room = area.height() - kTitle - line * kLinesBelow - 2 * kSpace;
  return {.middle = QPointF(area.center().x(), area.top() + kTitle + kSpace + room / 2),
          .radius = std::max(10.0, std::min(room, area.width() - 4 * kSpace) / 2 - 2),
          .room = room};
}

QRectF RotationDrawing::areaOf(std::size_t place, const QRect& area) const {
  const auto count = static_cast<double>(m_model.places.size());
  const double width = (area.width() - kSpace * (count - 1)) / count;
  return {area.left() + static_cast<double>(place) * (width + kSpace), double(area.top()), width,
          area.height() - kLegend * rowsOf(legendAreas(area))};
}

std::vector<RotationDrawing::LegendEntry> RotationDrawing::legend() const {
  const QColor keyInk = m_theme.segmentInk(m_model.keyHue);
  const QColor queryInk = m_theme.color(Role::Accent);
  return {{tr("rotated key"), keyInk, Head::Square, true},
          {tr("rotated query vector"), queryInk, Head::Triangle, true},
          {tr("unrotated key"), keyInk, Head::Square, false},
          {tr("unrotated query vector"), queryInk, Head::Triangle, false}};
}

std::vector<QRectF> RotationDrawing::legendAreas(const QRect& area) const {
  const QFontMetrics metrics(m_theme.smallFont());
  std::vector<QRectF> places;
  QPointF at;
  for (const LegendEntry& entry : legend()) {
    const double width = kLegendText + metrics.horizontalAdvance(entry.text);
    if (at.x() > 0 && at.x() + width > area.width()) at = {0, at.y() + kLegend};
    places.emplace_back(at, QSizeF(width, kLegend));
    at.rx() += width + 4 * kSpace;
  }
  const double top = area.bottom() + 1 - kLegend * rowsOf(places);
  for (QRectF& place : places) place.translate(area.left(), top);
  return places;
}

double RotationDrawing::longest() const {
  double most = 0;
  for (const RotationWay& place : m_model.places)
    most = std::max({most, lengthOf(place.shown.query), lengthOf(place.shown.key),
                     lengthOf(place.shown.rotatedQuery), lengthOf(place.shown.rotatedKey)});
  return most;
}

std::vector<QRect> RotationDrawing::tips(Arrow arrow) const {
  std::vector<QRect> tips;
  const double most = std::max(1e-12, longest());
  for (std::size_t i = 0; i < m_model.places.size(); ++i) {
    const Circle circle = circleIn(areaOf(i, rect()));
    const run::RotatedPair& shown = m_model.places[i].shown;
    const run::PlanePoint& point = arrow == Arrow::Key ? shown.rotatedKey : shown.rotatedQuery;
    const QPointF tip = circle.middle + QPointF(point.x, -point.y) * (circle.radius / most);
    tips.emplace_back(tip.toPoint() - QPoint(kTip / 2, kTip / 2), QSize(kTip, kTip));
  }
  return tips;
}

void RotationDrawing::paint(QPainter& painter, const QRect& area, double turned) const {
  if (!m_model.isComputed) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const double most = longest();
  for (std::size_t i = 0; i < m_model.places.size(); ++i)
    paintPlace(painter, areaOf(i, area), m_model.places[i], most, i == 0, turned);
  // Heads and dashes show the same as the colours.
  painter.setFont(m_theme.smallFont());
  const std::vector<LegendEntry> entries = legend();
  const std::vector<QRectF> places = legendAreas(area);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double y = places[i].center().y();
    paintArrow(painter, {places[i].left(), y}, {places[i].left() + kSample, y}, entries[i].ink,
               entries[i].head, entries[i].isRotated);
    painter.setPen(m_theme.color(Role::TextSecond));
    painter.drawText(places[i].adjusted(kLegendText, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     entries[i].text);
  }
  painter.restore();
}

void RotationDrawing::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  paint(painter, rect(), m_turned);
}

}  // namespace spanscope::ui
