// SPDX-License-Identifier: GPL-3.0-or-later
// The models that can run a document. Every list of models offers these models.
#pragma once

#include "engine/compute/backends.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/finder/model_finder.h"
#include "engine/workbench/settings.h"
#include "ui/document/document_model.h"
#include "ui/session/task_thread.h"
#include "ui/session/view_input.h"

#include <QObject>
#include <QString>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::workbench {
struct ModelBundle;
}

namespace spanscope::ui {

/// The facts about the loaded model that the window uses.
struct LoadedModel {
  QString name;
  std::string directory;
  QString device;
  QString deviceKind;           ///< "CPU", "CUDA"
  bool rowsAreBitEqual = true;  ///< compute::DeviceInfo::rowsAreBitEqual of that device
  double parameters = 0;        ///< number of weights
  std::int32_t layers = 0;
  std::int64_t contextLength = 0;  ///< tokens
  bool blockAttention = false;     ///< the model was trained for block attention
  std::string fittingAdapter;      ///< directory of a bundled adapter that adds block attention; empty: none
  QString madeFor;                 ///< model::ModelConfig::madeFor
  std::shared_ptr<const text::Tokenizer> tokenizer;
};

/// Describes a bundle. The returned tokenizer keeps the bundle alive.
LoadedModel loadedModelOf(const std::shared_ptr<workbench::ModelBundle>& bundle);

enum class ModelOrigin {
  Loaded,   ///< in memory
  Chosen,   ///< a model that only the document names
  Recent,   ///< a document ran on this model before
  Bundled,  ///< included in the program
};

struct ModelChoice {
  ModelOrigin origin = ModelOrigin::Bundled;
  QString name;            ///< name of the model's folder
  QString value;           ///< as written in RunSettings::model: a directory; empty: the bundled model
  QString directory;       ///< path of the model's folder
  bool isCurrent = false;  ///< the document runs on this model
  bool operator==(const ModelChoice&) const = default;
};

/// Lists each model once, ordered by origin. `current` is RunSettings::model of the document. Recent models
/// whose folder was deleted are left out.
std::vector<ModelChoice> modelChoices(const ModelsKnown& known, const std::string& current);
QString originText(ModelOrigin origin);

/// Sets the document's model, in one undo step. The embedded engine then answers the document. A change of
/// the model clears RunSettings::standsFor, the adapter and the chat template. The usual policy of the old
/// model becomes the usual policy of the new model. Other policies stay.
void chooseModel(DocumentModel& model, const QString& value);

/// Sets the server that answers the document, in one undo step. Empty: the embedded engine answers the
/// document.
void chooseServer(DocumentModel& model, const std::string& name);

/// Sets the document's adapter, in one undo step; empty: none. The policy changes as in chooseModel().
void chooseAdapter(DocumentModel& model, const std::string& directory);

/// A policy that changed because the user chose another model or adapter.
struct PolicyChange {
  std::string from;   ///< RunSettings::policy before the choice
  std::string to;     ///< RunSettings::policy after the choice
  std::string model;  ///< name of the chosen model, with its adapter
  bool operator==(const PolicyChange&) const = default;
};

/// Finds the policies that changed with the model or adapter of a tab. The window reports this change.
class PolicyChanges {
 public:
  /// Takes the present settings of a tab. Call this function after each change of the document; extra calls
  /// do no harm. Another change of the policy ends the report.
  void follow(std::uint32_t tab, const document::RunSettings& settings);
  void dismiss(std::uint32_t tab);
  const PolicyChange* of(std::uint32_t tab) const;  ///< nullptr: nothing to report

 private:
  struct Tab {
    std::string model;
    std::string adapter;
    std::string policy;
    std::optional<PolicyChange> change;
  };
  std::map<std::uint32_t, Tab> m_tabs;
};

/// Finds the models on this machine, on a separate thread. Call all functions on the window's thread.
class ModelSearch : public QObject {
  Q_OBJECT
 public:
  using Models = std::vector<workbench::FoundModel>;

  /// The memory that a model needs is computed for a device of `backends`.
  explicit ModelSearch(compute::Backends backends, QObject* parent = nullptr);
  ~ModelSearch() override;

  /// Sets the reader of variables that name the model folders of tools. The default reader reads the
  /// environment of this process.
  void setEnvironment(workbench::VariableReader environment) { m_environment = std::move(environment); }
  /// Starts a search, unless a search is in progress; found() follows. `recent` are models that were used
  /// before. The memory that a model needs is computed for the pool and device of `settings`.
  void search(const std::vector<std::string>& recent, const workbench::RunSettings& settings);
  bool isSearching() const { return m_isSearching; }
  /// The models of the last search; null: no search has ended.
  const std::shared_ptr<const Models>& models() const { return m_models; }

 Q_SIGNALS:
  void found();

 private:
  compute::Backends m_backends;
  workbench::VariableReader m_environment = workbench::processEnvironment();
  std::shared_ptr<workbench::ModelFinder> m_finder = std::make_shared<workbench::ModelFinder>();
  std::shared_ptr<const Models> m_models;
  bool m_isSearching = false;
  std::stop_source m_stop;
  TaskThread m_thread;  ///< ends first
};

/// "134.5 M · Q4_1 · context 8192 · 1.2 GiB · no known template". The memory includes the pool.
QString modelFacts(const workbench::FoundModel& model);

// The devices that can run a document. Every list of devices offers these devices.

struct DeviceChoice {
  QString name;            ///< as written in RunSettings::device
  QString text;            ///< name and description: "cuda:1: NVIDIA H200, compute capability 9.0, 139.7 GiB"
  bool isCurrent = false;  ///< the document runs on this device
  bool operator==(const DeviceChoice&) const = default;
};

/// Lists "auto", then every usable device. Adds `current` (RunSettings::device of the document) if the list
/// does not have `current`. If `known` is null, the devices of this machine are not known yet. The list then
/// has the kinds of device that a document may name.
std::vector<DeviceChoice> deviceChoices(const std::vector<compute::Device>* known,
                                        const std::string& current);

/// "cpu: AMD EPYC, AVX2, 31.2 GiB", or the reason why the device cannot be used.
QString deviceText(const compute::Device& device);

/// Sets the document's device to the named device, in one undo step.
void chooseDevice(DocumentModel& model, const QString& name);

}  // namespace spanscope::ui
