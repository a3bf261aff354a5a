// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/problems/problems_view.h"

#include "engine/compute/device_kinds.h"
#include "engine/workbench/model_names.h"
#include "ui/session/device_choices.h"
#include "ui/views/common/csv_line.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/problems/problem_list_model.h"

#include <QBoxLayout>
#include <QFontMetrics>
#include <QLabel>
#include <QListView>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QStackedWidget>
#include <QStyledItemDelegate>

#include <algorithm>
#include <array>

namespace spanscope::ui {
namespace {

constexpr int kRowHeight = 28;
/// A person who types has paused after this many milliseconds. In a large query finding problems takes
/// milliseconds.
constexpr int kPause = 150;
constexpr int kSeverityWidth = 56;
/// Rows that a list above the buttons shows at least; in a lower dock the buttons stand beside it.
constexpr int kRowsAbove = 2;

/// Paints a problem: shape, severity in words, what is wrong, how to fix it; the node at the right.
class ProblemDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void setTheme(const Theme& theme) { m_theme = theme; }

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const auto* model = dynamic_cast<const ProblemListModel*>(index.model());
    const auto* list = qobject_cast<const QListView*>(option.widget);
    if (model == nullptr || list == nullptr) return {200, kRowHeight};
    const int width = list->viewport()->width();
    return {200, layOut(model->rows().at(static_cast<std::size_t>(index.row())), width).height};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const auto* model = dynamic_cast<const ProblemListModel*>(index.model());
    if (model == nullptr) return;
    const ProblemRow& row = model->rows().at(static_cast<std::size_t>(index.row()));
    const RowLayout place = layOut(row, option.rect.width());
    const bool isError = row.problem.severity == Severity::Error;
    const QColor ink = m_theme.color(isError ? Role::Error : Role::ComputedInk);
    const QPoint corner = option.rect.topLeft();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    paintBackground(*painter, option);
    paintSign(*painter, QRectF(corner.x() + 2 * kSpace, corner.y() + kRowHeight / 2 - 7, 14, 14), isError,
              ink);
    painter->setFont(m_theme.interfaceFont());
    painter->setPen(ink);
    painter->drawText(QRect(corner + QPoint(8 * kSpace, 0), QSize(kSeverityWidth, kRowHeight)),
                      Qt::AlignLeft | Qt::AlignVCenter, severityWord(row.problem.severity));
    painter->setFont(m_theme.smallFont());
    painter->setPen(m_theme.color(Role::TextSecond));
    painter->drawText(place.node.translated(corner), Qt::AlignRight | Qt::AlignVCenter, place.nodeText);
    painter->setFont(m_theme.interfaceFont());
    painter->setPen(m_theme.color(Role::Text));
    painter->drawText(place.text.translated(corner), kWrapped, row.problem.text);
    painter->setFont(m_theme.smallFont());
    painter->setPen(m_theme.color(Role::TextThird));
    painter->drawText(place.hint.translated(corner), kWrapped, row.problem.hint);
    painter->restore();
  }

 private:
  static constexpr int kWrapped = Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap;

  /// Where the parts of a row stand, from its upper left corner.
  struct RowLayout {
    QRect text;
    QRect hint;
    QRect node;
    QString nodeText;
    int height = kRowHeight;
  };

  /// Text and hint stand side by side where both fit, else one below the other, in as many lines as they
  /// take.
  RowLayout layOut(const ProblemRow& row, int width) const {
    constexpr int kGap = 4 * kSpace;
    constexpr int kLeft = 8 * kSpace + kSeverityWidth;
    constexpr int kFewest = 20 * kSpace;  // pixels of text, however narrow the dock is
    constexpr int kMost = 10'000;         // pixels of height that no sentence takes
    const QFontMetrics normal(m_theme.interfaceFont());
    const QFontMetrics small(m_theme.smallFont());
    RowLayout place;
    place.nodeText = small.elidedText(row.node, Qt::ElideRight, (width - kLeft) / 4);
    const int nodeWidth = place.nodeText.isEmpty() ? 0 : small.horizontalAdvance(place.nodeText) + 1;
    const int right = width - 2 * kSpace;
    place.node = QRect(right - nodeWidth, 0, nodeWidth, kRowHeight);
    const int room = std::max(kFewest, right - nodeWidth - (nodeWidth > 0 ? kGap : 0) - kLeft);
    const int textWidth = normal.horizontalAdvance(row.problem.text) + 1;
    const int hintWidth = small.horizontalAdvance(row.problem.hint) + 1;
    if (textWidth + (row.problem.hint.isEmpty() ? 0 : kGap + hintWidth) <= room) {
      place.text = QRect(kLeft, 0, textWidth, kRowHeight);
      place.hint = QRect(kLeft + textWidth + kGap, 0, hintWidth, kRowHeight);
      return place;
    }
    const auto heightOf = [room](const QFontMetrics& metrics, const QString& text) {
      return text.isEmpty() ? 0 : metrics.boundingRect(QRect(0, 0, room, kMost), kWrapped, text).height();
    };
    const int above = (kRowHeight - normal.height()) / 2;
    place.text = QRect(kLeft, above, room, heightOf(normal, row.problem.text));
    place.hint = QRect(kLeft, place.text.bottom() + 1, room, heightOf(small, row.problem.hint));
    place.height = std::max(kRowHeight, place.hint.bottom() + 1 + above);
    return place;
  }

  void paintBackground(QPainter& painter, const QStyleOptionViewItem& option) const {
    const bool isSelected = (option.state & QStyle::State_Selected) != 0;
    const bool isHovered = (option.state & QStyle::State_MouseOver) != 0;
    const QRectF row = QRectF(option.rect).adjusted(0.5, 1.5, -0.5, -1.5);
    if (isSelected || isHovered) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(m_theme.color(isSelected ? Role::AccentFill : Role::Canvas));
      painter.drawRoundedRect(row, kSpace, kSpace);
    }
    if (isSelected && (option.state & QStyle::State_HasFocus) != 0) {
      painter.setPen(m_theme.color(Role::Accent));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(row, kSpace, kSpace);
    }
  }

  /// Paints a disc with a bar for an error, a triangle for a warning.
  void paintSign(QPainter& painter, const QRectF& area, bool isError, const QColor& ink) const {
    QPainterPath path;
    if (isError) {
      path.addEllipse(area.adjusted(1, 1, -1, -1));
    } else {
      path.moveTo(area.center().x(), area.top() + 1);
      path.lineTo(area.right() - 0.5, area.bottom() - 1);
      path.lineTo(area.left() + 0.5, area.bottom() - 1);
      path.closeSubpath();
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    painter.drawPath(path);
    const QPointF middle = area.center() + QPointF(0, isError ? 0 : 1.5);
    painter.setPen(QPen(m_theme.color(Role::Surface), 1.6, Qt::SolidLine, Qt::RoundCap));
    if (isError) {
      painter.drawLine(middle - QPointF(2.4, 2.4), middle + QPointF(2.4, 2.4));
      painter.drawLine(middle - QPointF(2.4, -2.4), middle + QPointF(2.4, -2.4));
    } else {
      painter.drawLine(middle - QPointF(0, 3), middle + QPointF(0, 0.5));
      painter.drawPoint(middle + QPointF(0, 3));
    }
  }

  Theme m_theme;
};

}  // namespace

ProblemsView::ProblemsView(QWidget* parent)
    : InputView(InputPart::Model | InputPart::Forecast, Pace::EveryInput, parent),
      m_list(new QListView(this)),
      m_empty(new QLabel(this)),
      m_model(new ProblemListModel(this)),
      m_pages(new QStackedWidget(this)),
      m_fix(new QPushButton(this)),
      m_processor(new QPushButton(tr("Use the CPU"), this)),
      m_template(new QPushButton(tr("Choose a chat template…"), this)),
      m_discard(new QPushButton(tr("Discard the JSON text"), this)),
      m_pool(new QPushButton(this)) {
  m_list->setObjectName(QStringLiteral("problems"));
  m_list->setAccessibleName(tr("Problems of the query"));
  m_list->setModel(m_model);
  m_list->setItemDelegate(new ProblemDelegate(m_list));
  m_list->setResizeMode(QListView::Adjust);
  m_list->setVerticalScrollMode(QListView::ScrollPerPixel);
  m_list->setMouseTracking(true);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  // It scrolls by itself, so that the buttons below stay in sight in a low dock.
  m_list->setMinimumHeight(kRowHeight + 2);
  m_empty->setObjectName(QStringLiteral("empty"));
  m_empty->setText(tr("The query is complete."));
  m_empty->setWordWrap(true);
  m_empty->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_empty->setContentsMargins(3 * kSpace, 3 * kSpace, 3 * kSpace, kSpace);

  m_fix->setObjectName(QStringLiteral("runHere"));
  m_fix->setToolTip(
      tr("Remembered for this document; Undo takes it back. The answer says which model gave it."));
  m_fix->hide();
  connect(m_fix, &QPushButton::clicked, this, &ProblemsView::acceptModel);

  m_processor->setObjectName(QStringLiteral("useProcessor"));
  m_processor->setToolTip(tr("The document's device, from the next run on. Undo takes it back."));
  m_processor->hide();
  connect(m_processor, &QPushButton::clicked, this, &ProblemsView::useProcessor);

  m_template->setObjectName(QStringLiteral("chooseTemplate"));
  m_template->setToolTip(tr("Shows the model's own as it stands, beside those that can be chosen"));
  m_template->hide();
  connect(m_template, &QPushButton::clicked, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("run.choose-template")); });

  m_discard->setObjectName(QStringLiteral("discardJson"));
  m_discard->setToolTip(tr("Shows the query as it is on the canvas in JSON"));
  m_discard->hide();
  connect(m_discard, &QPushButton::clicked, this, [this] {
    if (m_unread != nullptr) m_unread->discardTyped();
  });

  m_pool->setObjectName(QStringLiteral("enlargePool"));
  m_pool->setToolTip(
      tr("Sets the document's number of blocks. The next run begins with an empty cache. Undo "
         "takes it back."));
  m_pool->hide();
  connect(m_pool, &QPushButton::clicked, this, &ProblemsView::enlargePool);

  m_pages->addWidget(m_list);
  m_pages->addWidget(m_empty);
  m_layout = new QBoxLayout(QBoxLayout::TopToBottom, this);
  m_layout->setContentsMargins(kSpace, kSpace, kSpace, kSpace);
  m_layout->setSpacing(kSpace);
  m_layout->addWidget(m_pages, 1);
  auto* fixes = new QHBoxLayout;
  fixes->setSpacing(2 * kSpace);
  for (QPushButton* button : {m_discard, m_processor, m_template, m_pool, m_fix})
    fixes->addWidget(button, 0, Qt::AlignTop);
  fixes->addStretch(1);
  m_layout->addLayout(fixes);

  m_later.setSingleShot(true);
  m_later.setInterval(0);
  connect(&m_later, &QTimer::timeout, this, &ProblemsView::find);
  const auto show = [this](const QModelIndex& index) {
    const ProblemRow* row = rowAt(index);
    if (row != nullptr && document().contains(row->problem.node)) wantNode(row->problem.node);
    const bool isOfJson = m_unread != nullptr && m_unread->typed() && index.row() == 0;
    if (isOfJson) Q_EMIT commandWanted(QStringLiteral("view.dock:json"));
  };
  connect(m_list, &QListView::clicked, this, show);
  connect(m_list, &QListView::activated, this, show);
}

void ProblemsView::refresh() {
  static_cast<ProblemDelegate*>(m_list->itemDelegate())->setTheme(theme());
  m_empty->setFont(theme().interfaceFont());
  colorLabel(*m_empty, theme(), Role::TextSecond);
  m_list->viewport()->update();
  m_later.start();
}

void ProblemsView::resizeEvent(QResizeEvent* event) {
  InputView::resizeEvent(event);
  arrange();
}

/// Puts the buttons, where there are any, beside the list in a low dock.
void ProblemsView::arrange() {
  const auto isShown = [](const QPushButton* button) { return !button->isHidden(); };
  const std::array buttons{m_discard, m_processor, m_template, m_pool, m_fix};
  const bool any = std::any_of(buttons.begin(), buttons.end(), isShown);
  const int above = kRowsAbove * kRowHeight + m_fix->sizeHint().height() + 3 * kSpace;
  const auto direction = any && height() < above ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom;
  if (m_layout->direction() != direction) m_layout->setDirection(direction);
  // Beside it the list needs the room, and says the names.
  const QString named = m_fix->accessibleName().replace(QLatin1Char('&'), QStringLiteral("&&"));
  m_fix->setText(direction == QBoxLayout::LeftToRight ? tr("Run here") : named);
}

void ProblemsView::modelChanged() {
  // Once it is saved, the document stands beside its files.
  if (model() != nullptr) connect(model(), &DocumentModel::stateChanged, this, [this] { m_later.start(); });
  if (m_unread != nullptr) m_unread->disconnect(this);
  m_unread = model() == nullptr ? nullptr : &UnreadText::of(*model());
  if (m_unread != nullptr) connect(m_unread, &UnreadText::changed, this, [this] { m_later.start(); });
  m_later.setInterval(0);
}

void ProblemsView::find() {
  m_later.setInterval(kPause);
  const auto* devices = input() == nullptr ? nullptr : input()->devices.get();
  const auto* forecast = input() == nullptr ? nullptr : input()->forecast.get();
  // A recorded run is not run again, so that nothing is read for it.
  const std::optional<QString> path = model() == nullptr ? std::nullopt : std::optional(model()->filePath());
  std::vector<Problem> problems =
      m_finder.find(document(), tokenizer(), tokenCounts(), devices, path, document::kNoNode, forecast);
  if (m_unread != nullptr) problems = withUnread(*m_unread, std::move(problems));
  std::vector<ProblemRow> rows = problemRows(document(), std::move(problems));
  m_discard->setVisible(m_unread != nullptr && m_unread->typed().has_value());
  showFix(rows);
  m_empty->setText(document().size() > 0 ? tr("The query is complete.")
                                         : tr("The query has no node yet. Drop files on the window, paste a "
                                              "text, or press %1 on the canvas.")
                                               .arg(nodeKey()));
  const QString summary = problemSummary(rows);
  m_pages->setCurrentIndex(rows.empty() ? 1 : 0);
  m_model->setRows(std::move(rows));
  Q_EMIT summaryChanged(summary);
}

/// The key that adds a node.
QString ProblemsView::nodeKey() const {
  const QString key = input() == nullptr ? QString() : input()->keyOf(QStringLiteral("node.add"));
  return key.isEmpty() ? tr("Tab") : key;
}

const ProblemRow* ProblemsView::rowAt(const QModelIndex& index) const {
  if (!index.isValid()) return nullptr;
  return &m_model->rows().at(static_cast<std::size_t>(index.row()));
}

/// Shows the buttons below the list. One chooses the CPU if the device cannot be used, one a chat template if
/// the model's own is not known, one makes the pool large enough. The last accepts the first other model that
/// the query names.
void ProblemsView::showFix(const std::vector<ProblemRow>& rows) {
  const bool isOfDevice =
      std::any_of(rows.begin(), rows.end(), [](const ProblemRow& row) { return row.problem.isOfDevice; });
  m_processor->setVisible(isOfDevice && model() != nullptr);
  const bool isOfTemplate =
      std::any_of(rows.begin(), rows.end(), [](const ProblemRow& row) { return row.problem.isOfTemplate; });
  m_template->setVisible(isOfTemplate && model() != nullptr);
  const auto pool = std::find_if(rows.begin(), rows.end(),
                                 [](const ProblemRow& row) { return row.problem.poolNeeded > 0; });
  m_poolNeeded = pool == rows.end() ? 0 : pool->problem.poolNeeded;
  m_pool->setVisible(m_poolNeeded > 0 && model() != nullptr);
  m_pool->setText(tr("Make the pool %1 blocks").arg(m_poolNeeded));
  const auto other = std::find_if(rows.begin(), rows.end(),
                                  [](const ProblemRow& row) { return !row.problem.otherModel.empty(); });
  m_otherModel = other == rows.end() ? std::string() : other->problem.otherModel;
  m_fix->setVisible(!m_otherModel.empty() && model() != nullptr);
  m_fix->setAccessibleName(tr("Run “%1” here on %2")
                               .arg(QString::fromStdString(m_otherModel),
                                    QString::fromStdString(workbench::modelNameOf(document().settings))));
  arrange();
}

void ProblemsView::acceptModel() {
  if (model() == nullptr || m_otherModel.empty()) return;
  model()->change(tr("Run %1 here").arg(QString::fromStdString(m_otherModel)),
                  [wanted = m_otherModel](document::Document& document) {
                    workbench::standFor(document.settings, wanted);
                  });
}

void ProblemsView::useProcessor() {
  if (model() != nullptr) chooseDevice(*model(), QString::fromLatin1(compute::kProcessor.name));
}

void ProblemsView::enlargePool() {
  if (model() == nullptr || m_poolNeeded <= 0) return;
  model()->change(tr("Enlarge the pool"), [blocks = m_poolNeeded](document::Document& document) {
    document.settings.blockCount = blocks;
  });
}

QString ProblemsView::csv() const {
  QString text = QStringLiteral("severity,node,problem,hint\n");
  for (const ProblemRow& row : m_model->rows()) {
    text += csvLine({severityWord(row.problem.severity), row.node, row.problem.text, row.problem.hint});
  }
  return text;
}

}  // namespace spanscope::ui
