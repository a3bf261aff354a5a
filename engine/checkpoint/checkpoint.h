// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spanscope::checkpoint {

/// A model as it lies on a disk: a Hugging Face directory, a GGUF file, or a directory that contains one.
/// Only this class knows which file says what; those who read a part of a model (model::readConfig,
/// model::openWeights, text::loadTokenizer, text::templateSource, …) take a checkpoint and ask it.
///
/// It is a value that keeps nothing but the path. Every question looks at the disk anew, so an answer is as
/// old as the question.
class Checkpoint {
 public:
  /// Of nothing on a disk: a model of random weights.
  Checkpoint() = default;
  /// Not explicit: where a checkpoint is wanted, a path names one. Whether something lies there, require()
  /// says.
  template <class Path, class = std::enable_if_t<std::is_convertible_v<Path, std::filesystem::path>>>
  Checkpoint(Path&& path) : m_path(std::forward<Path>(path)) {}

  bool operator==(const Checkpoint&) const = default;

  const std::filesystem::path& path() const { return m_path; }
  bool isNothing() const { return m_path.empty(); }

  /// What people call it: the name of the directory, or of the file without ".gguf". A snapshot of Hugging
  /// Face's cache has the name of its repository, and a blob that is named by its digest has the first eight
  /// digits of it.
  std::string name() const;

  /// Throws Failure that names the path, unless it is a directory or a GGUF file.
  void require() const;
  /// The same, and a directory must contain a config.json or one GGUF file.
  void requireModel() const;
  /// requireModel() as an answer.
  bool holdsModel() const;

  /// The file of the directory with this name; nothing if it is not there.
  std::optional<std::filesystem::path> find(const std::string& name) const;
  /// Whether the directory contains `model.safetensors` or `model.safetensors.index.json`.
  bool hasSafetensors() const;
  /// The GGUF file from which configuration and weights are read; nothing if safetensors have them. Throws
  /// Failure if the directory contains several models.
  std::optional<std::filesystem::path> gguf() const;
  /// The GGUF file that may say what no other file of the directory does, even beside safetensors. Throws the
  /// same.
  std::optional<std::filesystem::path> anyGguf() const;

  /// Every file that may belong to the model, ordered by name: no output may overwrite one, and what was read
  /// before holds as long as none of them changes.
  std::vector<std::filesystem::path> files() const;

 private:
  std::filesystem::path m_path;
};

/// Names of the files in which a Hugging Face directory holds its weights.
inline constexpr const char* kSafetensorsFile = "model.safetensors";
inline constexpr const char* kSafetensorsIndex = "model.safetensors.index.json";

}  // namespace spanscope::checkpoint
