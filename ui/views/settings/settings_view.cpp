// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/settings/settings_view.h"

#include "engine/compute/backends.h"
#include "engine/policy/policies.h"
#include "engine/workbench/setting_choices.h"
#include "engine/workbench/settings.h"
#include "ui/session/model_choices.h"
#include "ui/views/common/choices.h"
#include "ui/views/common/elided_text.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QString>
#include <QStringList>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace spanscope::ui {
namespace {

// The hints below settings: the effect of a setting together with others.

/// What hints are made from: the settings, and the devices of this machine (null: not known yet).
struct HintInput {
  const workbench::RunSettings& settings;
  const std::vector<compute::Device>* devices = nullptr;
};
using SettingHint = QString (*)(const HintInput&);

using workbench::RunSettings;

QString exactness(const HintInput& input) {
  const RunSettings& settings = input.settings;
  const std::optional<policy::Choice> policy = policy::findChoice(settings.policy);
  const compute::DeviceKind* kind = compute::deviceKindOf(settings.device);
  const bool isEqual =
      settings.exact || settings.device == compute::kAutoDevice || (kind != nullptr && kind->rowsAreBitEqual);
  const layout::Layout layout = workbench::layoutOf(settings.layout);
  return policy ? QString::fromStdString(layout::exactnessOver(policy::exactnessOn(*policy, isEqual), layout))
                : QString();
}

QString devicesThere(const HintInput& input) {
  if (input.devices == nullptr) return {};
  QStringList lines;
  for (const compute::Device& device : *input.devices) lines.append(deviceText(device));
  return lines.join(QLatin1Char('\n'));
}

QString capacity(const HintInput& input) {
  const RunSettings& settings = input.settings;
  const std::int64_t tokens = std::int64_t{settings.blockCount - 1} * settings.blockSize;
  return tr("%1 tokens; one block is never allocated").arg(QLocale::c().toString(qlonglong(tokens)));
}

QString overlapThatCounts(const HintInput& input) {
  const RunSettings& settings = input.settings;
  const int most = settings.chunk / 4;
  return settings.overlap > most ? tr("At most a quarter of the passage size: %1 tokens").arg(most)
                                 : QString();
}

QString whatIsSent(const HintInput& input) {
  const RunSettings& settings = input.settings;
  if (!settings.asksServer()) return {};
  return settings.embeddingsUrl.empty() || settings.embeddingsModel.empty()
             ? tr("Ranking by vectors needs the address and the name of a model.")
             : tr("Spanscope sends the texts of documents and questions to this server. If "
                  "SPANSCOPE_EMBEDDINGS_KEY is set, Spanscope also sends this key.");
}

constexpr std::array<std::pair<std::string_view, SettingHint>, 5> kHints = {
    {{"policy", exactness},
     {"device", devicesThere},
     {"blocks", capacity},
     {"overlap", overlapThatCounts},
     {"embeddings_model", whatIsSent}}};

/// The function that makes the hint of the setting with this key; nullptr if the setting never has one. The
/// function returns an empty text if there is nothing to say.
SettingHint hintOf(std::string_view key) {
  for (const auto& [owner, hint] : kHints) {
    if (owner == key) return hint;
  }
  return nullptr;
}

using workbench::Setting;
using workbench::SettingGroup;

constexpr int kLabelWidth = 112;

/// The groups from top to bottom.
constexpr std::array kGroups = {SettingGroup::Model,    SettingGroup::Cache,     SettingGroup::Run,
                                SettingGroup::Locality, SettingGroup::Retrieval, SettingGroup::Recording};

QString titleOf(SettingGroup group) {
  switch (group) {
    case SettingGroup::Model:
      return SettingsView::tr("Model");
    case SettingGroup::Cache:
      return SettingsView::tr("Cache");
    case SettingGroup::Run:
      return SettingsView::tr("Run");
    case SettingGroup::Locality:
      return SettingsView::tr("Attention locality");
    case SettingGroup::Retrieval:
      return SettingsView::tr("Retrieval");
    case SettingGroup::Recording:
      return SettingsView::tr("Recording");
  }
  return {};
}

bool hasAugment(const document::Document& document) {
  const std::vector<document::NodeId> ids = document.ids();
  return std::any_of(ids.begin(), ids.end(), [&](document::NodeId id) {
    return document.at(id).own.as<query::Augment>() != nullptr;
  });
}

/// Makes a combo box whose width does not depend on the length of its entries.
QComboBox* makeComboOf(QWidget* owner, const Setting& setting, const char* title) {
  auto* const combo = new ElidedCombo(owner);
  combo->setObjectName(QString::fromLatin1(setting.name));
  combo->setAccessibleName(settingText(title));
  combo->setToolTip(settingText(setting.row.help));
  combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  ignoreWheelWithoutFocus(combo);
  return combo;
}

// Values of the entries that open a dialog. Other entries have paths.
const QLatin1String kBrowseFiles("\n");
const QLatin1String kBrowseFolders("\n\n");

}  // namespace

SettingsView::SettingsView(QWidget* parent) : InputView(InputPart::Model, Pace::EveryInput, parent) {
  auto* body = new QWidget;
  auto* grid = new QGridLayout(body);
  grid->setContentsMargins(3 * kSpace, 2 * kSpace, 3 * kSpace, 3 * kSpace);
  grid->setHorizontalSpacing(2 * kSpace);
  grid->setVerticalSpacing(2 * kSpace);
  grid->setColumnMinimumWidth(0, kLabelWidth);
  grid->setColumnStretch(1, 1);
  m_rows = std::make_unique<SettingsRows>(*this, *grid, [this] { return model(); });
  for (const SettingGroup group : kGroups) makeGroup(group);
  m_rows->addNote(
      tr("Applied on the next run. Changing the model, the blocks or the tiers empties the cache."));
  grid->setRowStretch(grid->rowCount(), 1);

  auto* scroll = new QScrollArea(this);
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setWidget(body);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->viewport()->setAutoFillBackground(false);
  body->setAutoFillBackground(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(scroll);
  for (QWidget* field : body->findChildren<QWidget*>()) {
    if (field->focusPolicy() != Qt::NoFocus)
      new DocumentUndo(
          field, [this] { return model(); }, UndoHistory::Settings);
  }
}

SettingsView::~SettingsView() = default;

void SettingsView::makeGroup(SettingGroup group) {
  m_rows->addHeader(titleOf(group));
  if (group == SettingGroup::Retrieval)
    m_unused = m_rows->addNote(tr("For augments. This query has no augment."));
  std::vector<const Setting*> settings;
  for (const Setting& setting : workbench::runSettings()) {
    if (setting.row.group == group) settings.push_back(&setting);
  }
  std::stable_sort(settings.begin(), settings.end(),
                   [](const Setting* a, const Setting* b) { return a->row.place < b->row.place; });
  for (const Setting* setting : settings) makeRow(*setting);
}

void SettingsView::makeRow(const Setting& setting) {
  Row row;
  row.field = setting.kind == workbench::TextKind::Checkpoint ? makeModels(setting)
              : setting.kind == workbench::TextKind::Device   ? makeDevices(setting)
                                                              : makeSettingField(setting, *m_rows);
  const bool saysItself = std::holds_alternative<bool RunSettings::*>(setting.member);
  row.label = m_rows->addRow(saysItself ? QString() : settingText(setting.row.label), row.field.widget);
  if (hintOf(setting.key) != nullptr) row.hint = m_rows->addHint();
  m_settings.push_back(std::move(row));
}

SettingField SettingsView::makeModels(const Setting& setting) {
  m_model = makeComboOf(this, setting, setting.row.title);
  connect(m_model, &QComboBox::activated, this, &SettingsView::chooseModel);
  return {.setting = &setting, .widget = m_model, .show = [this](const RunSettings&, const Theme&) {
            showModels();
          }};
}

SettingField SettingsView::makeDevices(const Setting& setting) {
  m_device = makeComboOf(this, setting, setting.row.label);
  connect(m_device, &QComboBox::activated, this, [this](int index) {
    if (model() != nullptr) chooseDevice(*model(), m_device->itemData(index).toString());
  });
  return {.setting = &setting, .widget = m_device, .show = [this](const RunSettings&, const Theme&) {
            showDevices();
          }};
}

void SettingsView::showDevices() {
  const QSignalBlocker blocker(m_device);
  m_device->clear();
  const auto* devices = input() == nullptr ? nullptr : input()->devices.get();
  for (const DeviceChoice& choice : deviceChoices(devices, document().settings.device)) {
    m_device->addItem(choice.text, choice.name);
    m_device->setItemData(m_device->count() - 1, choice.text, Qt::ToolTipRole);
    if (!choice.isCurrent) continue;
    m_device->setCurrentIndex(m_device->count() - 1);
    m_device->setToolTip(choice.text);
  }
  // The open list is as wide as its entries, also in a narrow dock.
  m_device->view()->setMinimumWidth(m_device->view()->sizeHintForColumn(0) + 4 * kSpace);
}

void SettingsView::showModels() {
  const std::string& current = document().settings.model;
  const QSignalBlocker blocker(m_model);
  m_model->clear();
  for (const ModelChoice& choice :
       modelChoices(input() == nullptr ? ModelsKnown() : input()->models, current)) {
    m_model->addItem(tr("%1 (%2)").arg(choice.name, originText(choice.origin).toLower()), choice.value);
    m_model->setItemData(m_model->count() - 1, choice.directory, Qt::ToolTipRole);
    if (!choice.isCurrent) continue;
    m_model->setCurrentIndex(m_model->count() - 1);
    m_model->setToolTip(choice.directory);
  }
  m_model->addItem(tr("Choose a GGUF file…"), kBrowseFiles);
  m_model->addItem(tr("Choose a folder…"), kBrowseFolders);
}

void SettingsView::chooseModel(int index) {
  QString path = m_model->itemData(index).toString();
  if (path == kBrowseFiles || path == kBrowseFolders) {
    path = path == kBrowseFiles ? askForModelFile(this) : askForModelFolder(this);
    if (path.isEmpty()) {
      showModels();
      return;
    }
  }
  if (model() != nullptr) ui::chooseModel(*model(), path);
  showModels();
}

/// Greys out a setting that has no effect now. Settings of retrieval, servers and template variables are
/// hidden instead: retrieval has many rows, and few users need the others.
void SettingsView::showRow(const Row& row, bool isRetrieving) {
  const Setting& setting = *row.field.setting;
  const RunSettings& settings = document().settings;
  row.field.show(settings, theme());
  const bool isUsed = setting.isUsed == nullptr || setting.isUsed(settings);
  const bool isForRetrieval = setting.row.group == SettingGroup::Retrieval;
  if (isForRetrieval || setting.key == "server" || setting.key == "template_variables") {
    const bool isShown = isUsed && (isRetrieving || !isForRetrieval);
    row.field.widget->setVisible(isShown);
    if (row.label != nullptr) row.label->setVisible(isShown);
  } else {
    row.field.widget->setEnabled(isUsed);
  }
  if (row.hint == nullptr) return;
  const QString hint =
      hintOf(setting.key)({.settings = settings, .devices = m_shown ? m_shown->devices.get() : nullptr});
  row.hint->setText(hint);
  row.hint->setVisible(!hint.isEmpty() && (isRetrieving || !isForRetrieval));
}

void SettingsView::refresh() {
  const bool isRetrieving = hasAugment(document());
  Shown shown{.settings = document().settings,
              .models = input() == nullptr ? ModelsKnown() : input()->models,
              .devices = input() == nullptr ? nullptr : input()->devices,
              .isRetrieving = isRetrieving,
              .hasModel = model() != nullptr,
              .theme = theme()};
  if (m_shown == shown) return;
  m_shown = std::move(shown);
  const SettingsRows::Showing showing(*m_rows);
  m_rows->setTheme(theme());
  m_unused->setVisible(!isRetrieving);
  for (const Row& row : m_settings) showRow(row, isRetrieving);
  setEnabled(model() != nullptr);
  Q_EMIT summaryChanged(tr("next run"));
}

ViewInfo settingsRow() {
  return {.id = QStringLiteral("settings"),
          .title = tr("Settings"),
          .help = tr("Model, cache and recording, for the next run"),
          .make = makeViewOf<SettingsView>,
          .places = {{LayoutId::Author, Room::Low, Room::Low, 2, 0, 1, 0},
                     {LayoutId::Author, Room::Middle, Room::Large, 2, 0, 1, 0}}};
}

}  // namespace spanscope::ui
