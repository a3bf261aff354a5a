// SPDX-License-Identifier: GPL-3.0-or-later
// Defines a model on disk. Open this file to find which file of a model has a piece of information.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spanscope::checkpoint {

/// A model on disk: a Hugging Face directory, a GGUF file, or a directory with a GGUF file. Only this class
/// knows which file contains what. Functions that read weights, configuration or tokenizer take a checkpoint
/// as an argument. Examples are model::readConfig, model::openWeights, text::loadTokenizer and
/// text::templateSource.
///
/// A checkpoint is a value that contains only the path. Every call reads the disk again.
class Checkpoint {
 public:
  /// Makes a checkpoint without files, for a model of random weights.
  Checkpoint() = default;
  /// Not explicit: a path can be passed where a checkpoint is expected. require() checks whether the path
  /// exists.
  template <class Path, class = std::enable_if_t<std::is_convertible_v<Path, std::filesystem::path>>>
  Checkpoint(Path&& path) : m_path(std::forward<Path>(path)) {}

  bool operator==(const Checkpoint&) const = default;

  const std::filesystem::path& path() const { return m_path; }
  bool isNothing() const { return m_path.empty(); }

  /// Returns the name for the user: the name of the directory, or of the file without ".gguf". A snapshot of
  /// Hugging Face's cache has the name of its repository. The name of a blob is the
  /// first eight digits of its digest.
  std::string name() const;

  /// Throws Failure that names the path, unless the path is a directory or a GGUF file.
  void require() const;
  /// Checks like require(). A directory must also contain a config.json or one GGUF file.
  void requireModel() const;
  /// Whether requireModel() would succeed.
  bool holdsModel() const;

  /// Describes the weights of a directory without safetensors: "weights of PyTorch (pytorch_model.bin)".
  std::string otherWeights() const;

  /// Returns the file of the directory with this name, or nothing.
  std::optional<std::filesystem::path> find(const std::string& name) const;
  /// Whether the directory contains `model.safetensors` or `model.safetensors.index.json`.
  bool hasSafetensors() const;
  /// Returns the GGUF file with configuration and weights, or nothing if safetensors files contain the
  /// weights. Throws Failure if the directory contains several models.
  std::optional<std::filesystem::path> gguf() const;
  /// Returns a GGUF file with further information, also if the directory has safetensors. Throws like gguf().
  std::optional<std::filesystem::path> anyGguf() const;

  /// Returns every file that may belong to the model, ordered by name. No output may overwrite such a file.
  /// The read data stays valid until one of these files changes.
  std::vector<std::filesystem::path> files() const;

 private:
  std::filesystem::path m_path;
};

/// Names of the files in which a Hugging Face directory stores its weights.
inline constexpr const char* kSafetensorsFile = "model.safetensors";
inline constexpr const char* kSafetensorsIndex = "model.safetensors.index.json";

}  // namespace spanscope::checkpoint
