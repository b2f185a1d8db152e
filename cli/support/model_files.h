#pragma once
// The files that a command is given.
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/model.h"

namespace regraft::cli {

/// ONNX files, and those in folders, by name. An Error for a folder without any.
Result<std::vector<std::string>> model_files(const std::vector<std::string>& paths);

struct SizeFlags;
/// An Error names the text that is no size.
Result<io::FixedSizes> fixed_sizes(const SizeFlags& flags);

/// Sizes of the inputs that are no numbers, each once, with what they count as.
std::map<std::string, int64_t> dynamic_sizes(const Graph& g);
/// "batch (counts as 1), length (64)", printable.
std::string dynamic_text(const std::map<std::string, int64_t>& sizes);

/// A file of a command: what it is there, and its path (empty: there is none).
struct NamedFile {
  std::string what, path;
};
std::vector<NamedFile> named(const std::string& what, const std::vector<std::string>& paths);

/// An Error when an output is the same file as an input or another output, under whatever names.
/// Devices may be written twice, standard output may not.
Status require_distinct(const std::vector<NamedFile>& inputs,
                        const std::vector<NamedFile>& outputs);

/// An Error when an input lies in a folder that is written to, under a name that begins with one of
/// these stems: the folder's files would take its place.
Status require_distinct_in(const std::string& folder, const std::vector<NamedFile>& inputs,
                           const std::vector<std::string>& stems);

/// Models and the files that hold their data.
std::vector<NamedFile> with_data(const std::string& what, const std::vector<std::string>& paths);
/// A model and the files that hold its data.
std::vector<NamedFile> with_data(const std::string& what, const std::string& path,
                                 const io::Imported& model);

}  // namespace regraft::cli
