// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/map_inputs_editor.h"

#include "ui/views/common/text_tools.h"

#include <QGridLayout>
#include <QLabel>
#include <QListView>
#include <QPushButton>
#include <QVBoxLayout>

namespace spanscope::ui {

MapInputsEditor::MapInputsEditor(QWidget* parent)
    : QWidget(parent),
      m_model(new MapInputsModel(this)),
      m_label(new QLabel(tr("Inputs, one answer each"), this)),
      m_list(new QListView(this)),
      m_buttons(new QGridLayout),
      m_add(new QPushButton(tr("Add"), this)),
      m_remove(new QPushButton(tr("Remove"), this)),
      m_up(new QPushButton(tr("Up"), this)),
      m_down(new QPushButton(tr("Down"), this)) {
  m_list->setObjectName(QStringLiteral("inputs"));
  m_list->setAccessibleName(tr("Inputs of the map"));
  m_list->setModel(m_model);
  m_list->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed |
                          QAbstractItemView::AnyKeyPressed);
  m_list->setMinimumHeight(24 * kSpace);
  m_list->setMaximumHeight(60 * kSpace);
  m_label->setBuddy(m_list);
  m_buttons->setSpacing(kSpace);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kSpace);
  layout->addWidget(m_label);
  layout->addWidget(m_list, 1);
  layout->addLayout(m_buttons);
  placeButtons();

  connect(m_model, &MapInputsModel::edited, this, &MapInputsEditor::edited);
  connect(m_add, &QPushButton::clicked, this, &MapInputsEditor::add);
  connect(m_remove, &QPushButton::clicked, this, &MapInputsEditor::remove);
  connect(m_up, &QPushButton::clicked, this, [this] { move(-1); });
  connect(m_down, &QPushButton::clicked, this, [this] { move(1); });
  connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this,
          &MapInputsEditor::updateButtons);
  connect(m_model, &QAbstractItemModel::modelReset, this, &MapInputsEditor::updateButtons);
  connect(m_model, &QAbstractItemModel::rowsMoved, this, &MapInputsEditor::updateButtons);
  updateButtons();
}

void MapInputsEditor::placeButtons() {
  constexpr int kButtons = 4;
  int wanted = (kButtons - 1) * kSpace;
  for (const QPushButton* button : {m_add, m_remove, m_up, m_down}) wanted += button->sizeHint().width();
  const int columns = wanted <= width() ? kButtons : kButtons / 2;
  int place = 0;
  for (QPushButton* button : {m_add, m_remove, m_up, m_down}) {
    m_buttons->addWidget(button, place / columns, place % columns);
    ++place;
  }
  // Remaining space is after the last button of a single row.
  m_buttons->setColumnStretch(kButtons, columns == kButtons ? 1 : 0);
}

void MapInputsEditor::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  placeButtons();
}

void MapInputsEditor::setInputs(const std::vector<std::string>& inputs) {
  m_model->setInputs(inputs);
}

const std::vector<std::string>& MapInputsEditor::inputs() const {
  return m_model->inputs();
}

void MapInputsEditor::setTheme(const Theme& theme) {
  m_label->setFont(theme.smallFont());
  colorLabel(*m_label, theme, Role::TextSecond);
  setSheet(*m_list, QStringLiteral("QListView { background: %1; border: 1px solid %2; border-radius: 5px; } "
                                   "QListView:focus { border: 1px solid %3; }")
                        .arg(theme.color(Role::Canvas).name(), theme.color(Role::Outline).name(),
                             theme.color(Role::Accent).name()));
}

void MapInputsEditor::focusList() {
  m_list->setFocus();
}

void MapInputsEditor::add() {
  const QModelIndex current = m_list->currentIndex();
  const int row = current.isValid() ? current.row() + 1 : m_model->rowCount();
  m_model->insertRows(row, 1);
  const QModelIndex added = m_model->index(row);
  m_list->setCurrentIndex(added);
  m_list->edit(added);
}

void MapInputsEditor::remove() {
  const QModelIndex current = m_list->currentIndex();
  if (current.isValid()) m_model->removeRows(current.row(), 1);
  updateButtons();
}

void MapInputsEditor::move(int step) {
  const QModelIndex current = m_list->currentIndex();
  if (!current.isValid()) return;
  const int to = step < 0 ? current.row() - 1 : current.row() + 2;
  m_model->moveRows({}, current.row(), 1, {}, to);
}

void MapInputsEditor::updateButtons() {
  const QModelIndex current = m_list->currentIndex();
  m_remove->setEnabled(current.isValid());
  m_up->setEnabled(current.isValid() && current.row() > 0);
  m_down->setEnabled(current.isValid() && current.row() + 1 < m_model->rowCount());
}

void MapInputsModel::setInputs(const std::vector<std::string>& inputs) {
  if (inputs == m_inputs) return;
  if (inputs.size() != m_inputs.size()) {
    beginResetModel();
    m_inputs = inputs;
    endResetModel();
    return;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (m_inputs[i] == inputs[i]) continue;
    m_inputs[i] = inputs[i];
    const QModelIndex changed = index(static_cast<int>(i));
    Q_EMIT dataChanged(changed, changed);
  }
}

int MapInputsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_inputs.size());
}

QVariant MapInputsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  if (role != Qt::DisplayRole && role != Qt::EditRole && role != Qt::ToolTipRole) return {};
  return QString::fromStdString(m_inputs[static_cast<std::size_t>(index.row())]);
}

bool MapInputsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || index.row() >= rowCount() || role != Qt::EditRole) return false;
  const std::string text = value.toString().toStdString();
  std::string& input = m_inputs[static_cast<std::size_t>(index.row())];
  if (input == text) return true;
  input = text;
  Q_EMIT dataChanged(index, index);
  Q_EMIT edited();
  return true;
}

Qt::ItemFlags MapInputsModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = QAbstractListModel::flags(index);
  return index.isValid() ? flags | Qt::ItemIsEditable | Qt::ItemNeverHasChildren : flags;
}

bool MapInputsModel::insertRows(int row, int count, const QModelIndex& parent) {
  if (parent.isValid() || row < 0 || row > rowCount() || count <= 0) return false;
  beginInsertRows({}, row, row + count - 1);
  m_inputs.insert(m_inputs.begin() + row, static_cast<std::size_t>(count), std::string());
  endInsertRows();
  Q_EMIT edited();
  return true;
}

bool MapInputsModel::removeRows(int row, int count, const QModelIndex& parent) {
  if (parent.isValid() || row < 0 || count <= 0 || row + count > rowCount()) return false;
  beginRemoveRows({}, row, row + count - 1);
  m_inputs.erase(m_inputs.begin() + row, m_inputs.begin() + row + count);
  endRemoveRows();
  Q_EMIT edited();
  return true;
}

bool MapInputsModel::moveRows(const QModelIndex& sourceParent, int from, int count,
                              const QModelIndex& targetParent, int to) {
  if (sourceParent.isValid() || targetParent.isValid() || count != 1) return false;
  if (from < 0 || from >= rowCount() || to < 0 || to > rowCount()) return false;
  // beginMoveRows() refuses moves that change nothing.
  if (!beginMoveRows({}, from, from, {}, to)) return false;
  const std::string moved = m_inputs[static_cast<std::size_t>(from)];
  m_inputs.erase(m_inputs.begin() + from);
  m_inputs.insert(m_inputs.begin() + (to > from ? to - 1 : to), moved);
  endMoveRows();
  Q_EMIT edited();
  return true;
}

}  // namespace spanscope::ui
