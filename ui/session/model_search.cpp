// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/model_search.h"

#include "engine/base/error.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/run_options.h"
#include "ui/words/tr.h"

#include <QMetaObject>
#include <QStringList>

#include <optional>
#include <utility>

namespace spanscope::ui {
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
    // The other folders are there all the same.
  }
  m_thread.post([this, folders = std::move(folders), settings, backends = m_backends, finder = m_finder,
                 stop = m_stop.get_token()] {
    std::optional<compute::ChosenDevice> device;
    std::optional<run::SessionConfig> pool;
    try {
      // What is kept beside the pool takes no memory of the device.
      workbench::RunSettings plain = settings;
      plain.cacheHostMebibytes = 0;
      plain.cacheDiskMebibytes = 0;
      pool = workbench::sessionConfigOf(plain);
      device = backends.choose(settings.device);
    } catch (const Failure&) {
      // Then no memory is told.
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
  if (model.canRun() && header.chatTemplate.empty()) facts << tr("no template that is known");
  return facts.join(tr(" · "));
}

}  // namespace spanscope::ui
