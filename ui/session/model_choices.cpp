// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/model_choices.h"

#include "engine/base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/model_problem.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/setting_choices.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <QDir>
#include <QMetaObject>
#include <QStringList>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace spanscope::ui {

LoadedModel loadedModelOf(const std::shared_ptr<workbench::ModelBundle>& bundle) {
  const compute::DeviceInfo device = bundle->backend->info();
  LoadedModel model;
  model.name = QString::fromStdString(bundle->name);
  model.directory = bundle->checkpoint.path().string();
  model.device = QString::fromStdString(device.name);
  model.deviceKind = QString::fromStdString(bundle->device.kind.name).toUpper();
  model.rowsAreBitEqual = device.rowsAreBitEqual;
  model.parameters = static_cast<double>(bundle->decoder->parameterCount());
  model.layers = bundle->config.layers;
  model.contextLength = bundle->config.maxPositions;
  model.blockAttention = bundle->config.blockAttention;
  if (const auto offered = workbench::offeredAdapter(bundle->config))
    model.fittingAdapter = offered->directory.string();
  model.madeFor = QString::fromStdString(bundle->config.madeFor);
  model.tokenizer = std::shared_ptr<const text::Tokenizer>(bundle, bundle->tokenizer.get());
  return model;
}

namespace {

std::string bundledDirectory() {
  try {
    return workbench::bundledModelDirectory().string();
  } catch (const Failure&) {
    return {};
  }
}

class Choices {
 public:
  explicit Choices(const std::string& current) : m_bundled(bundledDirectory()) {
    m_current = current.empty() ? m_bundled : current;
  }

  const std::string& bundled() const { return m_bundled; }
  const std::string& current() const { return m_current; }

  void add(ModelOrigin origin, const std::string& directory) {
    if (directory.empty()) return;
    const QString path = QString::fromStdString(directory);
    const auto isSame = [&path](const ModelChoice& choice) { return choice.directory == path; };
    if (std::any_of(m_choices.begin(), m_choices.end(), isSame)) return;
    m_choices.push_back({.origin = origin,
                         .name = QString::fromStdString(checkpoint::Checkpoint(directory).name()),
                         .value = directory == m_bundled ? QString() : path,
                         .directory = path,
                         .isCurrent = directory == m_current});
  }

  std::vector<ModelChoice> take() { return std::move(m_choices); }

 private:
  std::string m_bundled;
  std::string m_current;
  std::vector<ModelChoice> m_choices;
};

}  // namespace

std::vector<ModelChoice> modelChoices(const ModelsKnown& known, const std::string& current) {
  Choices choices(current);
  choices.add(ModelOrigin::Loaded, known.loaded);
  const std::filesystem::path bundled = choices.bundled();
  std::vector<std::string> shipped{choices.bundled()};
  const QDir folder(QString::fromStdString(bundled.parent_path().string()));
  for (const QString& name : folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name)) {
    const std::string path = (bundled.parent_path() / name.toStdString()).string();
    if (!bundled.empty() && checkpoint::Checkpoint(path).holdsModel()) shipped.push_back(path);
  }
  const auto isShipped = [&shipped](const std::string& directory) {
    return std::find(shipped.begin(), shipped.end(), directory) != shipped.end();
  };
  if (!isShipped(choices.current())) choices.add(ModelOrigin::Chosen, choices.current());
  for (const std::string& directory : known.recent) {
    if (!isShipped(directory) && checkpoint::Checkpoint(directory).holdsModel())
      choices.add(ModelOrigin::Recent, directory);
  }
  for (const std::string& directory : shipped) choices.add(ModelOrigin::Bundled, directory);
  return choices.take();
}

QString originText(ModelOrigin origin) {
  switch (origin) {
    case ModelOrigin::Loaded:
      return tr("Loaded");
    case ModelOrigin::Chosen:
      return tr("Chosen for this query");
    case ModelOrigin::Recent:
      return tr("Used before");
    case ModelOrigin::Bundled:
      return tr("Bundled");
  }
  return {};
}

void chooseModel(DocumentModel& model, const QString& value) {
  model.change(tr("Model"), [&value](document::Document& document) {
    const std::string wanted = value.toStdString();
    document.settings.server.clear();
    if (document.settings.model == wanted) return;
    const bool hasUsualPolicy = document.settings.policy == workbench::usualPolicyOf(document.settings);
    document.settings.model = wanted;
    document.settings.standsFor.clear();
    document.settings.adapter.clear();
    document.settings.chatTemplate = workbench::RunSettings().chatTemplate;
    document.settings.templateVariables.clear();
    if (hasUsualPolicy) document.settings.policy = workbench::usualPolicyOf(document.settings);
  });
}

void chooseServer(DocumentModel& model, const std::string& name) {
  model.change(tr("Server"), [&name](document::Document& document) { document.settings.server = name; });
}

void chooseAdapter(DocumentModel& model, const std::string& directory) {
  model.change(tr("Adapter"), [&directory](document::Document& document) {
    const bool hasUsualPolicy = document.settings.policy == workbench::usualPolicyOf(document.settings);
    document.settings.adapter = directory;
    if (hasUsualPolicy) document.settings.policy = workbench::usualPolicyOf(document.settings);
  });
}

void PolicyChanges::follow(std::uint32_t tab, const document::RunSettings& settings) {
  const auto [known, isNew] = m_tabs.try_emplace(tab);
  Tab& own = known->second;
  const bool isOtherModel = own.model != settings.model || own.adapter != settings.adapter;
  if (!isNew && own.policy != settings.policy) {
    // Undo restores the model and the policy, which needs no report.
    const bool isUndo = own.change && own.change->from == settings.policy;
    own.change.reset();
    if (isOtherModel && !isUndo)
      own.change =
          PolicyChange{.from = own.policy, .to = settings.policy, .model = workbench::modelNameOf(settings)};
  } else if (isOtherModel) {
    own.change.reset();
  }
  own.model = settings.model;
  own.adapter = settings.adapter;
  own.policy = settings.policy;
}

void PolicyChanges::dismiss(std::uint32_t tab) {
  if (const auto known = m_tabs.find(tab); known != m_tabs.end()) known->second.change.reset();
}

const PolicyChange* PolicyChanges::of(std::uint32_t tab) const {
  const auto known = m_tabs.find(tab);
  return known == m_tabs.end() || !known->second.change ? nullptr : &*known->second.change;
}

namespace {

QString shortCount(std::int64_t count) {
  constexpr double kMillion = 1e6;
  constexpr double kBillion = 1e9;
  const auto value = static_cast<double>(count);
  return value >= kBillion ? tr("%1 B").arg(value / kBillion, 0, 'f', 1)
                           : tr("%1 M").arg(value / kMillion, 0, 'f', 1);
}

QString sizeText(std::uint64_t bytes) {
  constexpr double kMebi = 1 << 20;
  constexpr double kGibi = 1 << 30;
  const auto value = static_cast<double>(bytes);
  return value >= kGibi ? tr("%1 GiB").arg(value / kGibi, 0, 'f', 1)
                        : tr("%1 MiB").arg(value / kMebi, 0, 'f', 0);
}

}  // namespace

ModelSearch::ModelSearch(compute::Backends backends, QObject* parent)
    : QObject(parent), m_backends(std::move(backends)) {}

ModelSearch::~ModelSearch() {
  m_stop.request_stop();
}

void ModelSearch::search(const std::vector<std::string>& recent, const workbench::RunSettings& settings) {
  if (std::exchange(m_isSearching, true)) return;
  workbench::ModelFolders folders = workbench::foldersOfTools(m_environment);
  for (const std::string& path : recent) folders.recent.emplace_back(path);
  try {
    folders.bundled = workbench::bundledModelDirectory().parent_path();
  } catch (const Failure&) {
    // The search still uses the other folders.
  }
  m_thread.post([this, folders = std::move(folders), settings, backends = m_backends, finder = m_finder,
                 stop = m_stop.get_token()] {
    std::optional<compute::ChosenDevice> device;
    std::optional<run::SessionConfig> pool;
    try {
      // CPU offload and disk cache take no memory of the device.
      workbench::RunSettings plain = settings;
      plain.cacheHostMebibytes = 0;
      plain.cacheDiskMebibytes = 0;
      pool = workbench::sessionConfigOf(plain);
      device = backends.choose(settings.device);
    } catch (const Failure&) {
      // Without a pool or a device, the memory is not shown.
    }
    auto models = std::make_shared<const Models>(
        finder->find(folders, pool ? &*pool : nullptr, device ? &device->kind : nullptr, stop));
    if (stop.stop_requested()) return;
    QMetaObject::invokeMethod(
        this,
        [this, models = std::move(models)] {
          m_models = models;
          m_isSearching = false;
          Q_EMIT found();
        },
        Qt::QueuedConnection);
  });
}

QString modelFacts(const workbench::FoundModel& model) {
  const workbench::ModelHeader& header = model.header;
  QStringList facts;
  if (header.parameters > 0) facts << shortCount(header.parameters);
  if (!header.types.empty()) facts << QString::fromStdString(header.types.front().first);
  if (header.context > 0) facts << tr("context %1").arg(header.context);
  if (model.memory > 0) facts << sizeText(model.memory);
  if (model.canRun() && header.chatTemplate.empty()) facts << tr("no known template");
  return facts.join(tr(" · "));
}

namespace {

/// The text of a name that is not a usable device: a kind of device, or an unusable device with the reason.
QString otherText(const std::vector<compute::Device>* known, const std::string& name) {
  QString text = QString::fromStdString(name);
  for (const workbench::Choice& choice : workbench::deviceChoices()) {
    if (choice.name == name) text = settingText(choice.label);
  }
  const std::string reason = known == nullptr ? std::string() : compute::reasonOf(*known, name);
  return reason.empty() ? text : tr("%1: cannot be used, %2").arg(text, QString::fromStdString(reason));
}

}  // namespace

std::vector<DeviceChoice> deviceChoices(const std::vector<compute::Device>* known,
                                        const std::string& current) {
  std::vector<DeviceChoice> choices;
  bool hasCurrent = false;
  const auto add = [&](const std::string& name, QString text) {
    hasCurrent = hasCurrent || name == current;
    choices.push_back(
        {.name = QString::fromStdString(name), .text = std::move(text), .isCurrent = name == current});
  };
  // Kinds are offered if the devices are not known. Auto is always offered.
  for (const workbench::Choice& choice : workbench::deviceChoices()) {
    if (choice.name == compute::kAutoDevice || known == nullptr) add(choice.name, settingText(choice.label));
  }
  if (known != nullptr) {
    for (const compute::Device& device : *known) {
      if (device.isUsable()) add(device.name, deviceText(device));
    }
  }
  if (!hasCurrent) add(current, otherText(known, current));
  return choices;
}

QString deviceText(const compute::Device& device) {
  constexpr double kGibi = 1 << 30;
  const QString name = QString::fromStdString(device.name);
  if (!device.isUsable())
    return tr("%1: cannot be used, %2").arg(name, QString::fromStdString(device.reason));
  QString text = tr("%1: %2").arg(name, QString::fromStdString(device.description));
  if (device.memoryBytes > 0)
    text += tr(", %1 GiB").arg(static_cast<double>(device.memoryBytes) / kGibi, 0, 'f', 1);
  return text;
}

void chooseDevice(DocumentModel& model, const QString& name) {
  model.change(tr("Device"),
               [&name](document::Document& document) { document.settings.device = name.toStdString(); });
}

}  // namespace spanscope::ui
