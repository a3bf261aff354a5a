// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/generate_section.h"

#include "engine/query/node_parts.h"
#include "ui/operators/operator_table.h"
#include "ui/views/common/checked_field.h"
#include "ui/views/inspector/inspector_model.h"
#include "ui/views/inspector/number_field.h"
#include "ui/views/inspector/text_section.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace spanscope::ui {
namespace {

template <class T>
NumberValue toValue(const query::Setting<T>& setting) {
  return std::visit(
      [](const auto& value) -> NumberValue {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, T>)
          return static_cast<double>(value);
        else
          return value;
      },
      setting);
}

template <class T>
query::Setting<T> toSetting(const NumberValue& value) {
  return std::visit(
      [](const auto& given) -> query::Setting<T> {
        if constexpr (std::is_same_v<std::decay_t<decltype(given)>, double>)
          return static_cast<T>(given);
        else
          return given;
      },
      value);
}

}  // namespace

GenerateSection::GenerateSection(EditOwn edit, const DocumentUndo::ModelOf& model, QWidget* parent)
    : QWidget(parent),
      m_edit(std::move(edit)),
      m_rows(new FormRows(this)),
      m_count(new NumberField(NumberField::Kind::Count, tr("Number of answers"), QStringLiteral("n"), this)),
      m_model(new QLineEdit(this)),
      m_maxTokens(new NumberField(NumberField::Kind::MaxTokens, tr("Max tokens"),
                                  QStringLiteral("max_tokens"), this)),
      m_temperature(new NumberField(NumberField::Kind::Temperature, tr("Temperature"),
                                    QStringLiteral("temperature"), this)),
      m_server(new QComboBox(this)),
      m_freeze(new QPushButton(this)),
      m_which(new QSpinBox(this)),
      m_frozen(new TextSection(model, this)) {
  m_count->setObjectName(QStringLiteral("repeatCount"));
  m_model->setObjectName(QStringLiteral("generateModel"));
  m_model->setPlaceholderText(tr("the loaded model"));
  m_maxTokens->setObjectName(QStringLiteral("generateMaxTokens"));
  m_temperature->setObjectName(QStringLiteral("generateTemperature"));
  m_server->setObjectName(QStringLiteral("generateServer"));
  m_server->setToolTip(tr("Who answers this node: steps of a query may go to different servers"));
  ignoreWheelWithoutFocus(m_server);
  m_freeze->setObjectName(QStringLiteral("freeze"));
  m_frozen->setObjectName(QStringLiteral("frozen"));
  m_which->setObjectName(QStringLiteral("frozenWhich"));
  m_which->setAccessibleName(tr("Which frozen answer is shown"));
  m_which->setMinimum(1);
  m_frozen->setCounted(false);
  m_frozen->editor()->setFixedHeight(20 * kSpace);
  // Its label is a sentence. Where the height of the text is not fixed, wrapping would keep it from
  // shrinking.
  for (QLabel* label : m_frozen->findChildren<QLabel*>()) label->setWordWrap(true);
  for (QLineEdit* line :
       {m_model, m_count->field()->line(), m_maxTokens->field()->line(), m_temperature->field()->line()}) {
    new DocumentUndo(line, model);
  }

  m_countLabel = m_rows->addRow(tr("Answers"), m_count);
  m_rows->addRow(tr("Model"), m_model);
  m_rows->addRow(tr("Max tokens"), m_maxTokens);
  m_rows->addRow(tr("Temperature"), m_temperature);
  m_serverLabel = m_rows->addRow(tr("Answered by"), m_server);
  m_freezeLabel = m_rows->addRow(tr("Answer"), m_freeze);
  m_whichLabel = m_rows->addRow(tr("Frozen answer"), m_which);
  m_rows->addWide(m_frozen);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_rows);

  connect(m_model, &QLineEdit::textEdited, this, [this](const QString& text) {
    m_edit(tr("Model"), QStringLiteral("model"), [&text](query::Node& own) {
      if (auto* settings = query::settingsOf(own)) settings->model = text.toStdString();
    });
  });
  connect(m_maxTokens, &NumberField::edited, this, [this] {
    m_edit(tr("Max tokens"), QStringLiteral("max_tokens"), [this](query::Node& own) {
      if (auto* settings = query::settingsOf(own))
        settings->maxTokens = toSetting<std::int32_t>(m_maxTokens->value());
    });
  });
  connect(m_temperature, &NumberField::edited, this, [this] {
    m_edit(tr("Temperature"), QStringLiteral("temperature"), [this](query::Node& own) {
      if (auto* settings = query::settingsOf(own))
        settings->temperature = toSetting<float>(m_temperature->value());
    });
  });
  connect(m_count, &NumberField::edited, this, [this] {
    m_edit(tr("Number of answers"), QStringLiteral("n"), [this](query::Node& own) {
      query::Times* times = query::countOf(own);
      if (times == nullptr) return;
      if (const auto* number = std::get_if<double>(&m_count->value()))
        *times = static_cast<std::uint8_t>(*number);
      if (const auto* name = std::get_if<query::Parameter>(&m_count->value())) *times = *name;
    });
  });
  connect(m_server, &QComboBox::activated, this,
          [this](int index) { Q_EMIT serverChosen(m_server->itemData(index).toString().toStdString()); });
  connect(m_freeze, &QPushButton::clicked, this, [this] {
    if (m_replies.empty())
      Q_EMIT freezeWanted();
    else
      Q_EMIT unfreezeWanted();
  });
  connect(m_which, &QSpinBox::valueChanged, this, &GenerateSection::showReply);
  connect(m_frozen, &TextSection::edited, this,
          [this] { Q_EMIT frozenEdited(static_cast<std::size_t>(m_which->value() - 1), m_frozen->text()); });
}

void GenerateSection::setNode(document::NodeId id, const document::DocumentNode& node,
                              const std::vector<std::string>& servers) {
  const query::GenerateSettings* settings = query::settingsOf(node.own);
  if (settings == nullptr) return;
  const query::Times* times = query::countOf(node.own);
  m_count->setVisible(times != nullptr);
  m_countLabel->setVisible(times != nullptr);
  if (times != nullptr) {
    m_count->setValue(std::visit(
        [](const auto& count) -> NumberValue {
          if constexpr (std::is_same_v<std::decay_t<decltype(count)>, query::Parameter>)
            return count;
          else
            return static_cast<double>(count);
        },
        *times));
  }
  const QString model = QString::fromStdString(settings->model);
  if (m_model->text() != model) m_model->setText(model);
  m_maxTokens->setValue(toValue(settings->maxTokens));
  m_temperature->setValue(toValue(settings->temperature));
  m_replies = node.frozen;
  {
    const QSignalBlocker blocker(m_which);
    if (m_node != id) m_which->setValue(1);
    m_which->setMaximum(std::max(1, static_cast<int>(m_replies.size())));
    m_which->setSuffix(tr(" of %1").arg(m_replies.size()));
  }
  m_node = id;
  showServers(node.server, servers);
  showFrozen(node.own);
}

/// Who has no servers sees nothing of them.
void GenerateSection::showServers(const std::string& chosen, const std::vector<std::string>& servers) {
  const bool isShown = !servers.empty() || !chosen.empty();
  m_server->setVisible(isShown);
  m_serverLabel->setVisible(isShown);
  const QSignalBlocker blocker(m_server);
  m_server->clear();
  m_server->addItem(tr("as the document"), QString());
  m_server->addItem(tr("the embedded engine"), QString::fromLatin1(document::kEmbedded));
  for (const std::string& server : servers)
    m_server->addItem(QString::fromStdString(server), QString::fromStdString(server));
  const QString now = QString::fromStdString(chosen);
  if (m_server->findData(now) < 0) m_server->addItem(tr("%1 (not in the list)").arg(now), now);
  m_server->setCurrentIndex(m_server->findData(now));
}

void GenerateSection::showFrozen(const query::Node& own) {
  const bool isFrozen = !m_replies.empty();
  const bool givesMany = document::mostReplies(own) > 1;
  if (isFrozen) {
    m_freeze->setText(tr("Run it again"));
    m_freeze->setToolTip(givesMany ? tr("Forget the frozen answers") : tr("Forget the frozen answer"));
  } else if (givesMany) {
    m_freeze->setText(tr("Freeze the last"));
    m_freeze->setToolTip(tr("Use the answers of the last run instead of running it again"));
  } else {
    m_freeze->setText(tr("Freeze the last"));
    m_freeze->setToolTip(tr("Use the last answer instead of running the generate"));
  }
  m_freezeLabel->setText(givesMany ? tr("Answers given") : tr("Answer"));
  m_which->setVisible(m_replies.size() > 1);
  m_whichLabel->setVisible(m_replies.size() > 1);
  m_frozen->setLabel(
      givesMany
          ? tr("Frozen: stands in for one answer of the %1").arg(operatorLabel(query::operatorName(own)))
          : tr("Frozen answer: stands in for running the generate"));
  m_frozen->setVisible(isFrozen);
  showReply();
}

void GenerateSection::showReply() {
  const auto index = static_cast<std::size_t>(m_which->value() - 1);
  m_frozen->setText(index < m_replies.size() ? m_replies[index] : std::string());
}

void GenerateSection::setTheme(const Theme& theme) {
  m_rows->setTheme(theme);
  m_count->setTheme(theme);
  m_maxTokens->setTheme(theme);
  m_temperature->setTheme(theme);
  m_frozen->setTheme(theme);
}

void GenerateSection::focusFirst() {
  m_model->setFocus(Qt::OtherFocusReason);
  m_model->selectAll();
}

}  // namespace spanscope::ui
