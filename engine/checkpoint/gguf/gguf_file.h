// SPDX-License-Identifier: GPL-3.0-or-later
// Parses a GGUF file with its tensors (docs/gguf.md of ggml). The key/values come first, then name, shape,
// type and place of each tensor. The data begins at the next multiple of the alignment. The whole file is
// checked before anything in it is used. Open this file when a GGUF file is refused.
#pragma once

#include "engine/checkpoint/gguf/gguf_metadata.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/compute/weight_format/weight_format.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace spanscope::checkpoint {

struct GgufTensor {
  std::vector<std::uint64_t> shape;  ///< innermost first, as in the file; one to four sizes, each at least 1
  std::uint32_t type = 0;            ///< number of the type in the file
  const compute::WeightFormatInfo* format = nullptr;  ///< null for a type that a weight cannot have here
  std::span<const std::byte> data;                    ///< into the parsed bytes; empty if the type is unknown

  std::int64_t elements() const;
  /// Returns "Q4_K", or "type 99".
  std::string typeName() const;
};

struct GgufContents {
  GgufMetadata metadata;
  std::map<std::string, GgufTensor> tensors;
};

/// Parses the whole file image `bytes`, which must outlive the result. `source` is the name of the file in
/// errors. Throws Failure for wrong key/values (see GgufMetadata), and in these cases:
/// - A name occurs twice.
/// - A shape does not fit its type.
/// - A tensor is outside of the file or overlaps another one.
GgufContents parseGguf(std::span<const std::byte> bytes, const std::string& source);

/// A model in one file or in several parts, memory-mapped.
class GgufFile {
 public:
  /// `path` is the file, or the first of its parts ("…-00001-of-00003.gguf"). The other parts must be beside
  /// it. Throws Failure.
  explicit GgufFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return m_path; }
  const GgufMetadata& metadata() const { return m_metadata; }
  struct Located {
    std::string file;
    GgufTensor tensor;
  };
  const std::map<std::string, Located>& tensors() const { return m_tensors; }
  /// See MappedFile.
  void requireWhole() const;
  void requireUnchanged() const;

 private:
  void add(const std::filesystem::path& path, GgufContents contents);

  std::filesystem::path m_path;
  GgufMetadata m_metadata;
  std::vector<MappedFile> m_files;  ///< the tensors point into these
  std::map<std::string, Located> m_tensors;
};

/// Returns the GGUF files of a directory, ordered by name. If a model has several parts
/// (-00001-of-00003.gguf), the list has only the first part, which contains the metadata.
std::vector<std::filesystem::path> ggufFiles(const std::filesystem::path& directory);

/// Whether a regular file begins like a GGUF file. Its name does not matter.
bool isGguf(const std::filesystem::path& path);

}  // namespace spanscope::checkpoint
